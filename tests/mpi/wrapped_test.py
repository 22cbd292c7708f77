#!/usr/bin/env python3
"""Each function that an MPI lets a program call is wrapped, or may be called at any time.

usage: wrapped_test.py LAYER PROGRAM WAYS
  PROGRAM is linked to the MPI; WAYS is what mpi/wrappers.py --list has written
"""
import re
import subprocess
import sys
from pathlib import Path

# Of MPI 1, removed by MPI 3: no mpi.h declares them, but a library may have them for old programs.
REMOVED = {f'MPI_{name}' for name in ('Address', 'Errhandler_create', 'Errhandler_get', 'Errhandler_set', 'Type_extent', 'Type_hindexed',
                                      'Type_hvector', 'Type_lb', 'Type_struct', 'Type_ub')}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def functions(library):
    """Those that it exports for C: one capital letter follows MPI_, and all have a profiling entry."""
    names = set(re.findall(r' [TW] (P?MPI_[A-Z][a-z0-9]\w*)$', run('nm', '--dynamic', '--defined-only', library), re.M))
    return {name for name in names if f'P{name}' in names}


def main():
    layer, program, ways = sys.argv[1:]
    library = re.search(r'libmpi(?:ch|_abi)?\.so\S* => (\S+)', run('ldd', program))[1]
    free = {line.split()[0] for line in Path(ways).read_text().splitlines() if line.endswith(' free')}
    names = set(re.findall(r' T (P?MPI_\w+)$', run('nm', '--dynamic', '--defined-only', layer), re.M))
    wrapped = {name for name in names if f'P{name}' in names} # both, of which one is named
    missing = sorted(name for name in functions(library) - wrapped - free - REMOVED if not name.startswith('MPI_T_'))
    print(f'{len(wrapped)} functions of {library} are wrapped, {len(free)} may be called at any time')
    if missing:
        print('not wrapped:', *missing)
    return 1 if missing or len(wrapped) < 200 else 0


if __name__ == '__main__':
    sys.exit(main())
