#!/usr/bin/env python3
"""All C and C++ of the tree is as clang-format leaves it. usage: format.py ROOT CLANG_FORMAT

To mend what it finds: tools/format
"""
import subprocess
import sys
from pathlib import Path

DIRECTORIES = ('include', 'fult', 'sync', 'comm', 'global', 'launcher', 'omp', 'mpi', 'apps', 'tests', 'bench', 'tools', 'examples')


def main():
    root, clang_format = Path(sys.argv[1]), sys.argv[2]
    files = [p for d in DIRECTORIES for p in sorted((root / d).rglob('*')) if p.suffix in ('.hpp', '.cpp', '.h', '.c')]
    if not files:
        print('no file found: is the root right?')
        return 1
    run = subprocess.run([clang_format, '--dry-run', '-Werror', *map(str, files)])
    print(f'{len(files)} files; run tools/format to mend' if run.returncode else f'{len(files)} files')
    return run.returncode


if __name__ == '__main__':
    sys.exit(main())
