#!/usr/bin/env python3
"""HPCCG on several ranks has the residuals of the serial program. usage: ranks_test.py FULT_RUN RANKS SERIAL PROGRAM"""
import subprocess
import sys
import tempfile
from pathlib import Path


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}')
    return done.stdout


def residuals(path):
    return [float(line.split()[1]) for line in path.read_text().splitlines()]


def main():
    fult_run, ranks, serial, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        expected, found = Path(scratch) / 'expected', Path(scratch) / 'found'
        # Blocks that divide evenly and not, a plane larger than a rank's part, and fewer blocks than ranks.
        for size in [(22, 21, 20), (16, 16, 16), (60, 60, 3), (9, 8, 7)]:
            run(serial, '--residuals', expected, *size)
            report = run(fult_run, '-n', ranks, program, '--residuals', found, *size)
            a, b = residuals(found), residuals(expected)
            if len(a) != len(b):
                sys.exit(f'{size}: {len(a)} residuals instead of {len(b)}')
            for k, (x, y) in enumerate(zip(a, b)):
                if abs(x - y) > 1e-12 * abs(y):
                    sys.exit(f'{size}, iteration {k}: {x} instead of {y}')
            for line in ('Verification: passed', f'  Number of ranks: {ranks}', f'  nz: {size[2]}'):
                if report.splitlines().count(line) != 1:
                    sys.exit(f'{size}: not one line {line!r} in\n{report}')


if __name__ == '__main__':
    main()
