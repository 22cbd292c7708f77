#!/usr/bin/env python3
"""Quantum ESPRESSO: the energy of silicon and its forces, with a potential that it has made itself.

usage: espresso_test.py FULT_OMP FULT_MPI FOLDER
"""
import shutil
import sys

from programs import INPUTS, Case, Program, lines_without, test

RESULTS = {'output': lines_without('starts on', 'total cpu time', before=' init_run ')}


def prepare(folder, tool):
    for name in ('silicon-atom.in', 'silicon.in'):
        shutil.copy(INPUTS / name, folder)
    tool('ld1.x', '-in', 'silicon-atom.in')


def case(name, threads, ranks=0):
    return Case(name, ['pw.x', '-in', 'silicon.in'], RESULTS, threads, ranks)


if __name__ == '__main__':
    sys.exit(test(Program('espresso', {'pw.x': 'quantum-espresso', 'ld1.x': 'quantum-espresso'}, prepare,
                          [case('threads_2', 2), case('ranks_2_threads_1', 1, 2), case('ranks_2_threads_2', 2, 2)],
                          ['openblas-openmp/'])))
