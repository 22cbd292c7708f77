#!/usr/bin/env python3
"""Octave with OpenBLAS: products and factorizations of matrices. usage: octave_test.py FULT_OMP FULT_MPI FOLDER"""
import shutil
import sys

from programs import INPUTS, Case, Program, all_lines, test


def prepare(folder, tool):
    shutil.copy(INPUTS / 'matrices.m', folder)


def case(threads):
    return Case(f'threads_{threads}', ['octave-cli', '--no-init-file', '--no-site-file', '--no-history', 'matrices.m'],
                {'output': all_lines}, threads)


if __name__ == '__main__':
    sys.exit(test(Program('octave', {'octave-cli': 'octave'}, prepare, [case(2), case(4)], ['openblas-openmp/'])))
