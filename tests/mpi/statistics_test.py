#!/usr/bin/env python3
"""FULT_MPI_STATS=on prints a line for each rank at MPI_Finalize. usage: statistics_test.py COMMAND ...   (of two ranks)"""
import os
import re
import subprocess
import sys

LINE = re.compile(r'fult-mpi: rank (\d): (\d+) operations, (\d+) of them waited; \d+ polls(?:; the longest wait took [\d.]+ ms, in MPI_\w+)?')


def main():
    got = subprocess.run(sys.argv[1:], env={**os.environ, 'FULT_MPI_STATS': 'on'}, capture_output=True, text=True)
    lines = LINE.findall(got.stdout + got.stderr)
    right = got.returncode == 0 and sorted(rank for rank, _, _ in lines) == ['0', '1'] and all(
        int(operations) >= int(waited) and int(operations) > 0 for _, operations, waited in lines)
    if not right:
        print(got.stdout, got.stderr)
    return 0 if right else 1


if __name__ == '__main__':
    sys.exit(main())
