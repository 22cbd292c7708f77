#!/usr/bin/env python3
"""LAMMPS: molten salt, with files that all ranks write. usage: lammps_test.py FULT_OMP FULT_MPI FOLDER"""
import shutil
import sys

from programs import INPUTS, Case, Program, all_lines, lines_without, test

RESULTS = {
    'output': lines_without('CPU', 'Loop time', 'Performance', 'wall time', r'\|'),
    'pairs.txt': all_lines,
    'atoms.txt': all_lines,
    'together.txt': all_lines,
    'salt.restart': all_lines,
}


def prepare(folder, tool):
    shutil.copy(INPUTS / 'salt.lmp', folder)


def case(name, threads, ranks=0):
    return Case(name, ['lmp', '-in', 'salt.lmp'], RESULTS, threads, ranks)


if __name__ == '__main__':
    sys.exit(test(Program('lammps', {'lmp': 'lammps'}, prepare,
                          [case('threads_2', 2), case('ranks_2_threads_1', 1, 2), case('ranks_2_threads_2', 2, 2)])))
