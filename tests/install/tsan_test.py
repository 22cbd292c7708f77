#!/usr/bin/env python3
"""A user's program under ThreadSanitizer finds its own race and no other, as docs/debugging.md promises.

usage: tsan_test.py --build BUILD --source SOURCE --cxx COMMAND...     BUILD was set up with -Db_sanitize=thread
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'tools'))
from aslr import without_aslr  # noqa: E402


def run(program, *arguments):
    environment = {**os.environ, 'TSAN_OPTIONS': 'halt_on_error=0:history_size=4'}
    done = subprocess.run([*without_aslr(), str(program), *arguments], env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', type=Path, required=True)
    parser.add_argument('--source', type=Path, required=True)
    parser.add_argument('--cxx', nargs='+', required=True)
    options = parser.parse_args()
    libraries = options.build / 'fult'
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / 'program'
        subprocess.run([*options.cxx, '-std=c++20', '-O1', '-g', '-fsanitize=thread', f'-I{options.source}/include',
                        str(options.source / 'tests/install/tsan/main.cpp'), f'-L{libraries}', '-lfult', f'-Wl,-rpath,{libraries}',
                        '-pthread', '-o', str(program)], check=True)
        status, output = run(program)
        if status != 0 or 'ThreadSanitizer' in output or 'right' not in output:
            failures.append(f'the right program: status {status}\n{output}')
        status, output = run(program, 'race')
        reports = re.split(r'^=+$', output, flags=re.MULTILINE)
        reports = [r for r in reports if 'WARNING: ThreadSanitizer' in r]
        if not reports:
            failures.append(f'the planted race was not found: status {status}\n{output}')
        for report in reports:
            if 'data race' not in report or 'planted' not in report or 'race()' not in report:
                failures.append(f'a report that is not of the planted race:\n{report}')
    print('\n'.join(failures) or 'ok')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
