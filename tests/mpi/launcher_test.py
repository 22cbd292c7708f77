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


def linked_with(soname, folder):
    """A program that needs a library of this name."""
    library, program = Path(folder, soname), Path(folder, 'linked')
    for text, *arguments in (('int called(void) { return 0; }', '-shared', f'-Wl,-soname,{soname}', '-o', library),
                             ('int called(void); int main(void) { return called(); }', library, f'-Wl,-rpath,{folder}', '-o', program)):
        subprocess.run(['gcc', '-x', 'c', '-', '-x', 'none', *arguments], input=text, text=True, check=True)
    return program


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
    for soname, part in (('libmpi.so.40', 'libfult-mpi-openmpi.so'), ('libmpi.so.12', 'libfult-mpi-mpich.so'),
                         ('libmpich.so.12', 'libfult-mpi-mpich.so'), ('libmpi_abi.so.1', 'libfult-mpi-abi.so'),
                         ('libmpi.so.99', 'the standard\'s binary interface: libmpi.so.99')):
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = got = run('--show', linked_with(soname, folder))
            check(code in (0, 2) and part in out + err, got)
    with tempfile.TemporaryDirectory() as folder: # without the layers beside it
        alone = shutil.copy(FULT_MPI, folder)
        code, out, err = got = run(PROGRAM, launcher=alone)
        check(code == 2 and f'has no {LAYER.name}' in err, got)


if __name__ == '__main__':
    main()
