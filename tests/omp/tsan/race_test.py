#!/usr/bin/env python3
"""ThreadSanitizer finds the race of an OpenMP program, and none in the same program with dependences.

usage: race_test.py LIBRARY_FOLDER PROGRAM.c COMPILER      LIBRARY_FOLDER: of a build with -Db_sanitize=thread
"""
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    library, source, compiler = sys.argv[1:]
    environment = dict(os.environ, LD_LIBRARY_PATH=str(pathlib.Path(library).resolve()))
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder) / 'race')
        subprocess.run([compiler, '-g', '-O1', '-fsanitize=thread', '-fopenmp', '-o', program, source], check=True)
        with_race = subprocess.run([program], capture_output=True, text=True, check=False, env=environment)
        without = subprocess.run([program, 'depend'], capture_output=True, text=True, check=False, env=environment)
    if with_race.returncode == 0 or 'data race' not in with_race.stderr or 'race.c:1' not in with_race.stderr:
        print(f'the race is not found: exit status {with_race.returncode}\n{with_race.stderr}')
        return 1
    if without.returncode != 0 or without.stderr or without.stdout != '400\n':
        print(f'with dependences: exit status {without.returncode}\n{without.stdout}{without.stderr}')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
