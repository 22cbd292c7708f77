#!/usr/bin/env python3
"""The public headers compile among the macros of other headers, without exceptions, and under strict warnings.

surroundings.cpp uses each of them, so that templates are instantiated. usage: surroundings.py ROOT COMPILER...
"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What other headers define: name: (text before all else, options of the compiler).
SURROUNDINGS = {
    'macros of Windows, Qt and X11': ('#include <bits/stdc++.h>\n#define min(a, b) ((a) < (b) ? (a) : (b))\n'
                                      '#define max(a, b) ((a) > (b) ? (a) : (b))\n'
                                      '#define emit\n#define slots\n#define signals public\n#define None 0L\n#define Status int\n'
                                      '#define Success 0\n#define Bool int\n#define True 1\n#define False 0\n#define Always 2\n', []),
    'no exceptions, no type information': ('', ['-fno-exceptions', '-fno-rtti']),
    'strict warnings': ('', ['-Wshadow', '-Wconversion', '-Wsign-conversion', '-Wold-style-cast', '-Wundef', '-Wnon-virtual-dtor',
                             '-Woverloaded-virtual', '-Wextra-semi', '-Wcast-qual']),
}


def complaint(root, compiler, before, options):
    text = before + (root / 'tests' / 'layout' / 'surroundings.cpp').read_text()
    command = [compiler, '-x', 'c++', '-std=c++20', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', f'-I{root / "include"}',
               *options, '-']
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    return run.stderr[:3000] if run.returncode else ''


def main():
    root, compilers = Path(sys.argv[1]), sys.argv[2:]
    cases = [(name, compiler) for name in SURROUNDINGS for compiler in compilers]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = list(pool.map(lambda case: complaint(root, case[1], *SURROUNDINGS[case[0]]), cases))
    failed = [(case, text) for case, text in zip(cases, found) if text]
    for (name, compiler), text in failed:
        print(f'--- {name}, {compiler}\n{text}')
    print(f'{len(cases)} compilations, {len(failed)} failed')
    return 1 if failed or not cases else 0


if __name__ == '__main__':
    sys.exit(main())
