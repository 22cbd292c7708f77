#!/usr/bin/env python3
"""A crash in an OpenMP task or region names it, as in C++ programs: fult/memory/overflow.cpp.

usage: crashes_test.py LIBRARY_FOLDER PROGRAM.c COMPILER     exit status 77: there is no such compiler
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

# gcc names an outlined function after that of the source, clang does not.
NAMES = {'gcc': {'task': r'task \(function write_nowhere', 'region': r'region \(function main'},
         'clang': {'task': r'task \(function \.omp_task_entry', 'region': r'region \(function \.omp_outlined'}}
LINE = r'^fult: OpenMP {}\S*\) \(worker \d+, slot \d+\) ends the program by SIGSEGV, address \S+\n *#0 '


def main():
    _, library, source, compiler = sys.argv
    names = NAMES['clang' if 'clang' in compiler else 'gcc']
    environment = dict(os.environ, LD_LIBRARY_PATH=str(pathlib.Path(library).resolve()))
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder) / 'crashes')
        try:
            built = subprocess.run([compiler, '-g', '-O1', '-fopenmp', f'-L{library}', '-o', program, source],
                                   capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return 77
        if built.returncode != 0:
            print(built.stderr)
            return 1

        def run(where):
            return subprocess.run([program, where], capture_output=True, text=True, check=False, env=environment)

        failures = 0
        for where, name in names.items():
            done = run(where)
            if done.returncode != -signal.SIGSEGV or not re.search(LINE.format(name), done.stderr, re.M):
                print(f'{where}: exit status {done.returncode}, no line that matches {LINE.format(name)} in:\n{done.stderr}')
                failures += 1
        done = run('handler')
        if done.returncode != 42 or 'ends the program' in done.stderr:
            print(f'handler: exit status {done.returncode}, not 42 without a report:\n{done.stderr}')
            failures += 1
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
