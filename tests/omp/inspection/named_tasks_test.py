#!/usr/bin/env python3
"""OpenMP tasks have the name of their source function in reports, and its line in gdb.

usage: named_tasks_test.py LIBRARY_FOLDER PROGRAM.c COMPILER [GDB SCRIPT]     exit status 77: there is no such compiler
"""
import os
import re
import subprocess
import sys

from openmp_program import built, family_of

# gcc names an outlined function after that of the source, clang does not.
IN_REPORT = {'gcc': ("'OpenMP task of generate'", "'OpenMP region of main'"),
             'clang': (r"'OpenMP task \.omp_task_entry", r"'OpenMP region \.omp_outlined")}
IN_GDB = {'gcc': (r"'OpenMP task of generate at \S*named_tasks\.c:\d+'", r"'OpenMP region of main at \S*named_tasks\.c:\d+'"),
          'clang': (r"'OpenMP task at \S*named_tasks\.c:\d+'", r"'OpenMP region at \S*named_tasks\.c:\d+'")}


def missing(patterns, text):
    for pattern in patterns:
        if not re.search(pattern, text):
            print(f'{pattern} is missing in:\n{text}')
            return 1
    return 0


def in_report(program, family, environment):
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment)
    try:
        text = os.read(process.stderr.fileno(), 1 << 16).decode()  # waits for the report, which is one write
        output, rest = process.communicate('\n')
    finally:
        process.kill()
    if process.returncode != 0 or output != '4\n':
        print(f'exit status {process.returncode}:\n{output}{text}{rest}')
        return 1
    return missing(IN_REPORT[family], text + rest)


def in_gdb(program, family, gdb, script, environment):
    commands = ['set debuginfod enabled off', f'source {script}', 'break stop_here', 'run', 'fult tasks', 'kill']
    done = subprocess.run([gdb, '-nx', '-batch', *(word for c in commands for word in ('-ex', c)), program],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=environment)
    text = done.stdout + done.stderr
    if 'ptrace' in text or 'Could not trace' in text or 'not being run' in text or 'scripting is not' in text:
        print('gdb cannot be used here:', text)
        return 77
    return missing(IN_GDB[family], text)


def main():
    _, library, source, compiler, *debugger = sys.argv
    family = family_of(compiler)
    with built(library, source, compiler, FULT_DUMP_SIGNAL='USR1') as (program, environment):
        status = in_report(program, family, environment)
        if status == 0 and debugger:
            status = in_gdb(program, family, *debugger, environment)
    return status


if __name__ == '__main__':
    sys.exit(main())
