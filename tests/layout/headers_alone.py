#!/usr/bin/env python3
"""Every header compiles alone, and all of them together twice in one program. In C++17 each public one gives one error.

All together finds a function or variable that should have been inline. With --own only the headers that a program includes itself are
compiled alone: neither those below detail/ nor private ones.
usage: headers_alone.py ROOT [--own] --cxx COMMAND... --cc COMMAND...
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Werror']


def compile_one(command, text, include_dirs, arguments):
    """The compiler's complaints about a text given on its standard input; empty when it has none."""
    full = command + WARNINGS + [f'-I{d}' for d in include_dirs] + arguments + ['-']
    run = subprocess.run(full, input=text, capture_output=True, text=True)
    return '' if run.returncode == 0 else (run.stdout + run.stderr or 'failed silently')


def wrong_language(command, text, include_dirs):
    """What is wrong with the complaint about C++17: it should be one #error with the remedy, and nothing after it."""
    full = [*command, '-x', 'c++', '-std=c++17', '-fsyntax-only', *(f'-I{d}' for d in include_dirs), '-']
    run = subprocess.run(full, input=text, capture_output=True, text=True)
    errors = [line for line in run.stderr.splitlines() if re.search(r'\berror: ', line)]
    ends = len(errors) == 2 and 'fatal error: ' in errors[1] and 'C++20' in errors[1]
    if run.returncode != 0 and ends and 'FULT needs C++20: add -std=c++20' in errors[0]:
        return ''
    return f'C++17 should give one error that says "FULT needs C++20":\n{run.stderr[:2000] or "it gives none"}'


def tried(name, complaint):
    """Says what has been compiled: on a loaded machine all of it takes longer than a test may be silent."""
    print(f'{name}: {"wrong" if complaint else "ok"}', flush=True)
    return name, complaint


def is_first_in_its_source(header, root):
    """Whether NAME.cpp includes NAME.hpp before all else: then it compiles alone if the library is built without precompiled headers."""
    source = header.with_suffix('.cpp')
    included = re.search(r'^#include ["<]([^">]+)[">]', source.read_text() if source.exists() else '', re.M)
    return bool(included) and included[1] in (header.name, header.relative_to(root).as_posix())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('root', type=Path)
    parser.add_argument('--own', action='store_true')
    parser.add_argument('--cxx', nargs='+', required=True)
    parser.add_argument('--cc', nargs='+', required=True)
    options = parser.parse_args()
    public_dir = options.root / 'include'
    cpp = ['-x', 'c++', '-std=c++20']
    check = ['-fsyntax-only']

    public = sorted(p.relative_to(public_dir).as_posix() for p in public_dir.rglob('*.h*'))
    private = sorted(p.relative_to(options.root).as_posix() for base in ('fult', 'sync', 'comm', 'global', 'launcher')
                     for p in (options.root / base).rglob('*.hpp') if not is_first_in_its_source(p, options.root))
    alone = [name for name in public if not options.own or 'detail' not in Path(name).parts]
    if options.own:
        private = []
    if not alone:
        print(f'no public header below {public_dir}')
        return 1
    # Public headers must not need the private path; twice, so that a missing #pragma once shows.
    jobs = [(name, options.cxx, f'#include <{name}>\n' * 2, [public_dir], cpp + check) for name in alone]
    jobs += [(name, options.cxx, f'#include "{name}"\n' * 2, [public_dir, options.root], cpp + check)
             for name in private]
    jobs += [(name + ' in C', options.cc, f'#include <{name}>\n' * 2, [public_dir], ['-x', 'c', '-std=c11'] + check)
             for name in public if name.endswith('.h')]

    everything = ''.join(f'#include <{name}>\n' for name in public)
    with tempfile.TemporaryDirectory() as scratch:
        objects = [os.path.join(scratch, f'{i}.o') for i in range(2)]
        jobs += [(f'all together, unit {i}', options.cxx, everything, [public_dir], cpp + ['-c', '-fPIC', '-o', objects[i]])
                 for i in range(2)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda job: tried(job[0], compile_one(*job[1:])), jobs))
            cpp_only = [name for name in public if name.endswith('.hpp')]
            results += pool.map(lambda name: tried(f'{name} in C++17', wrong_language(options.cxx, f'#include <{name}>\n',
                                                                                      [public_dir])), cpp_only)
        if not any(complaint for _, complaint in results):
            link = subprocess.run(options.cxx + ['-nostdlib', '-r', '-o', os.path.join(scratch, 'both.o')] + objects,
                                  capture_output=True, text=True)
            results.append(('all together, linked', link.stdout + link.stderr if link.returncode else ''))

    failed = [(name, complaint) for name, complaint in results if complaint]
    for name, complaint in failed:
        print(f'--- {name}\n{complaint}')
    print(f'{len(results)} compilations, {len(failed)} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
