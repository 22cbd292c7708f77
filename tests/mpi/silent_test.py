#!/usr/bin/env python3
"""Ranks that wait for each other report what each task waits for. usage: silent_test.py COMMAND ...   (silent.c on two ranks)"""
import os
import re
import subprocess
import sys

# The first rank that has reported ends the job.
VARIABLES = {'FULT_MPI_REPORT_AFTER': '1', 'FULT_DEADLOCK': 'abort'}

# A task may wait on the stack of another one: so not all receivers need be one entry.
EXPECTED = (r'no MPI operation of rank [01] has begun or ended for 1 s \(FULT_MPI_REPORT_AFTER\): 23 are under way: ',
            r'under way: .*\b21 from rank [01],', r'under way: .*\b1 to rank [01],', r'under way: .*\b1 from any rank\.',
            r'1 task waits for MPI_Recv at \S+ \(from rank [01], tag 40, MPI_COMM_WORLD\)',
            r'1 task waits for MPI_Probe at \S+ \(from any rank, tag 41, MPI_COMM_SELF\)',
            r'1 task waits for MPI_Ssend at \S+ \(to rank [01], tag 42, MPI_COMM_WORLD\)',
            r'\d+ tasks wait for MPI_Recv:\n(?:    \d.*: from rank [01], tag [56]\d, MPI_COMM_WORLD\n){6}    and \d+ more\n')


def main():
    got = subprocess.run(sys.argv[1:], env={**os.environ, **VARIABLES}, capture_output=True, text=True)
    text = got.stdout + got.stderr
    missing = [each for each in EXPECTED if not re.search(each, text)]
    if got.returncode == 0 or missing:
        print(text, f'status {got.returncode}, missing:', *missing, sep='\n')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
