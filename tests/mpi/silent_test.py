#!/usr/bin/env python3
"""Ranks that wait for each other report what each task waits for. usage: silent_test.py COMMAND ...   (silent.c on two ranks)"""
import os
import re
import subprocess
import sys

# The first rank that has reported ends the job.
VARIABLES = {'FULT_MPI_REPORT_AFTER': '1', 'FULT_DEADLOCK': 'abort'}

WAITS = (r'1 task waits for MPI_Recv at \S+ \(from rank [01], tag 40, MPI_COMM_WORLD\)',
         r'1 task waits for MPI_Probe at \S+ \(from any rank, tag 41, MPI_COMM_SELF\)',
         r'1 task waits for MPI_Ssend at \S+ \(to rank [01], tag 42, MPI_COMM_WORLD\)')


def main():
    got = subprocess.run(sys.argv[1:], env={**os.environ, **VARIABLES}, capture_output=True, text=True)
    text = got.stdout + got.stderr
    said = 'fult: no MPI operation of this rank has begun or ended for 1 s (FULT_MPI_REPORT_AFTER): 3 are under way' in text
    right = got.returncode != 0 and said and all(re.search(wait, text) for wait in WAITS)
    if not right:
        print(text)
    return 0 if right else 1


if __name__ == '__main__':
    sys.exit(main())
