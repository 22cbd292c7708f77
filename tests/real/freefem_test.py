#!/usr/bin/env python3
"""FreeFem++: a loaded membrane on meshes that are adapted to its shape. usage: freefem_test.py FULT_OMP FULT_MPI FOLDER"""
import shutil
import sys

from programs import INPUTS, Case, Program, all_lines, test


def prepare(folder, tool):
    shutil.copy(INPUTS / 'membrane.edp', folder)


def case(threads):
    return Case(f'threads_{threads}', ['FreeFem++', '-nw', '-v', '0', 'membrane.edp'], {'output': all_lines, 'shape.txt': all_lines}, threads)


if __name__ == '__main__':
    sys.exit(test(Program('freefem', {'FreeFem++': 'freefem++'}, prepare, [case(2), case(4)], ['openblas-openmp/'])))
