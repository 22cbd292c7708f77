#!/usr/bin/env python3
"""What gdb shows of a program's tasks with tools/gdb/fult.py.

usage: gdb_test.py GDB SCRIPT PROGRAM        exit status 77: gdb cannot be used here
"""
import re
import subprocess
import sys


def gdb(*arguments):
    return subprocess.run([sys.argv[1], '-nx', '-batch', *arguments], capture_output=True, text=True,
                          check=False, env={'FULT_WORKERS': '2', 'FULT_BIND': 'off', 'PATH': '/usr/bin:/bin'})


def main():
    _, _, script, program = sys.argv
    if 'fine' not in gdb('-ex', 'python print("fi" + "ne")').stdout:
        print('this gdb has no Python')
        return 77
    done = gdb('-ex', 'set debuginfod enabled off', '-ex', f'source {script}', '-ex', 'break stop_here', '-ex', 'run',
               '-ex', 'fult tasks', '-ex', 'fult bt all', '-ex', 'fult bt 0:2', '-ex', 'fult bt 0:1', '-ex', 'bt 1',
               '-ex', 'kill', program)
    text = done.stdout + done.stderr
    if 'ptrace' in text or 'Could not trace' in text or 'not being run' in text:
        print('gdb may not run programs here:', text)
        return 77
    for what, pattern in {
        'the running task': r"0:1 'main' \(0x[0-9a-f]+\) runs on worker 0",
        'a waiting one': r"0:\d+ 'sleeper' \(0x[0-9a-f]+\) waits for event at 0x",
        'one on its stack': r"0:\d+ 'inner' \(0x[0-9a-f]+\) waits for event at 0x",
        'the one below': r"0:\d+ 'outer' \(0x[0-9a-f]+\) joins a task that runs on its stack",
        'all': r'(?m)^8 tasks$',
        'equal stacks together': r'[2-6] tasks?: .*waits for event',
        'the function that waits': r'waits_in_the_middle',
        'the event': r'fult::event::wait',
        'the bottom of the stack': r'stack_main',
        'a refusal': r'0:1 runs on worker \d: see `info threads`',
        'the thread itself afterwards': r'#0 .*stop_here',
    }.items():
        if not re.search(pattern, text):
            print(f'{what} is missing ({pattern}) in:\n{text}')
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
