#!/usr/bin/env python3
"""The end of one rank ends the job, whose other tasks wait for messages: with the status that says why, and no call returns.

usage: ends_test.py abort|kill COMMAND ...   (ends.c on two ranks)
"""
import os
import subprocess
import sys
import tempfile

# Of mpiexec: MPICH's, Open MPI's. What they print is not certain: Open MPI may lose it.
STATUSES = {'abort': (3, ), 'kill': (9, 128 + 9)}


def main():
    way, *command = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        got = subprocess.run([*command, way, folder], capture_output=True, text=True)
        left = sorted(os.listdir(folder))
    right = got.returncode in STATUSES[way] and left == ['ends-1', 'waits-0', 'waits-1']
    if not right:
        print(got.stdout, got.stderr, f'status {got.returncode}, files {left}')
    return 0 if right else 1


if __name__ == '__main__':
    sys.exit(main())
