#!/usr/bin/env python3
"""A crash in an OpenMP task or region, or an abort, names it, as in C++ programs: fult/inspection/overflow.cpp.

usage: crashes_test.py LIBRARY_FOLDER PROGRAM.c COMPILER     exit status 77: there is no such compiler
"""
import re
import signal
import subprocess
import sys

from openmp_program import built, family_of

# gcc names an outlined function after that of the source, clang does not.
NAMES = {'gcc': {'task': r'task \(function write_nowhere', 'region': r'region \(function main'},
         'clang': {'task': r'task \(function \.omp_task_entry', 'region': r'region \(function \.omp_outlined'}}
LINE = r'^fult: OpenMP {}\S*\) \(worker \d+, slot \d+\) ends the program by {}\n *#0 '
CRASHES = {'task': ('task', 'SIGSEGV', r', address \S+'), 'region': ('region', 'SIGSEGV', r', address \S+'),
           'abort': ('task', 'SIGABRT', '')}


def main():
    _, library, source, compiler = sys.argv
    failures = 0
    with built(library, source, compiler) as (program, environment):
        def run(where):
            return subprocess.run([program, where], capture_output=True, text=True, check=False, env=environment)

        for where, (kind, number, address) in CRASHES.items():
            done = run(where)
            line = LINE.format(NAMES[family_of(compiler)][kind], number + address)
            if done.returncode != -signal.Signals[number] or not re.search(line, done.stderr, re.M):
                print(f'{where}: exit status {done.returncode}, no line that matches {line} in:\n{done.stderr}')
                failures += 1
        for where in ('handler', 'abort-handler'):
            done = run(where)
            if done.returncode != 42 or 'ends the program' in done.stderr:
                print(f'{where}: exit status {done.returncode}, not 42 without a report:\n{done.stderr}')
                failures += 1
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
