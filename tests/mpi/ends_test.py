#!/usr/bin/env python3
"""The end of one rank ends the job, whose other tasks wait for messages: with the status and the message of the MPI, and no call returns.

usage: ends_test.py abort|kill COMMAND ...   (ends.c on two ranks)
"""
import os
import re
import subprocess
import sys
import tempfile

# The exit statuses and the messages of mpiexec: MPICH's, Open MPI's.
ENDS = {
    'abort': ((3, ), r'application called MPI_Abort\(MPI_COMM_WORLD, 3\) - process 1|MPI_ABORT was invoked on rank 1 .*\s+with errorcode 3'),
    'kill': ((9, 128 + 9), r'EXIT STRING: Killed \(signal 9\)|rank 1 .* exited on signal 9'),
}


def main():
    way, *command = sys.argv[1:]
    statuses, message = ENDS[way]
    with tempfile.TemporaryDirectory() as folder:
        got = subprocess.run([*command, way, folder], capture_output=True, text=True)
        left = sorted(os.listdir(folder))
    text = got.stdout + got.stderr
    right = got.returncode in statuses and re.search(message, text) and left == ['waits-0', 'waits-1']
    if not right:
        print(text, f'status {got.returncode}, files {left}')
    return 0 if right else 1


if __name__ == '__main__':
    sys.exit(main())
