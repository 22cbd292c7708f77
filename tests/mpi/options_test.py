#!/usr/bin/env python3
"""Variables FULT_MPI_* that are unknown or have a wrong value are reported by each rank. usage: options_test.py COMMAND ...   (of two ranks)"""
import os
import subprocess
import sys

WRONG = {'FULT_MPI_STAT': 'on', 'FULT_MPI_ANYTHING': '1', 'FULT_MPI_POLL_PAUSE': '1s', 'FULT_MPI_STATS': 'maybe'}
EXPECTED = [
    'fult-mpi: the environment variable FULT_MPI_STAT is unknown; did you mean FULT_MPI_STATS? `fult-mpi --help` lists those that are',
    'fult-mpi: the environment variable FULT_MPI_ANYTHING is unknown; `fult-mpi --help` lists those that are',
    "fult-mpi: FULT_MPI_POLL_PAUSE='1s' is ignored: must be microseconds from 0 to 1000000",
    "fult-mpi: FULT_MPI_STATS='maybe' is ignored: must be on or off",
]


def main():
    got = subprocess.run(sys.argv[1:], env={**os.environ, **WRONG}, capture_output=True, text=True)
    lines = (got.stdout + got.stderr).splitlines()
    right = got.returncode == 0 and all(lines.count(line) == 2 for line in EXPECTED)
    if not right:
        print(*lines, sep='\n')
    return 0 if right else 1


if __name__ == '__main__':
    sys.exit(main())
