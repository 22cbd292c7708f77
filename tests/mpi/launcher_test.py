#!/usr/bin/env python3
"""The launcher finds the layer for a program, and says what is missing. usage: launcher_test.py FULT_MPI PROGRAM LAYER"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FULT_MPI, PROGRAM, LAYER = (Path(each).resolve() for each in sys.argv[1:])


def run(*arguments, launcher=FULT_MPI):
    got = subprocess.run([launcher, *map(str, arguments)], capture_output=True, text=True)
    return got.returncode, got.stdout, got.stderr


def check(condition, got):
    if not condition:
        sys.exit(f'unexpected: {got}')


def main():
    code, out, err = got = run('--help')
    check(code == 0 and 'usage: mpirun' in out, got)
    code, out, err = got = run('--version')
    check(code == 0 and out.startswith('fult-mpi '), got)
    code, out, err = got = run('--show', PROGRAM)
    check(code == 0 and Path(out.split()[0]).resolve() == LAYER, got)
    code, out, err = got = run('--mpi', 'openmpi', '--show', '/bin/true')
    check(code in (0, 2) and 'libfult-mpi-openmpi.so' in out + err, got)
    for arguments, part in (
            ([], 'no program is given'),
            (['--nonsense'], 'unknown option --nonsense'),
            (['./no-such-program'], './no-such-program: there is no such program'),
            (['/bin/true'], '/bin/true is not linked to an MPI library'),
            (['--mpi', 'other', PROGRAM], 'build FULT with -Dmpi=enabled')):
        code, out, err = got = run(*arguments)
        check(code == 2 and err.startswith('fult-mpi: ') and part in err, got)
    with tempfile.TemporaryDirectory() as folder: # without the layers beside it
        alone = shutil.copy(FULT_MPI, folder)
        code, out, err = got = run(PROGRAM, launcher=alone)
        check(code == 2 and f'has no {LAYER.name}' in err, got)


if __name__ == '__main__':
    main()
