#!/usr/bin/env python3
"""GROMACS: a box of water, with OpenMP, with its own threads in place of ranks, and with MPI. usage: gromacs_test.py FULT_OMP FULT_MPI FOLDER"""
import shutil
import sys

from programs import INPUTS, Case, Program, all_lines, lines_without, test

RESULTS = {
    'md.log': lines_without('Writing checkpoint', 'load imb', after='Started mdrun on rank 0', before='M E G A - F L O P S'),
    'confout.gro': all_lines,
    'traj.trr': all_lines,
}
OPTIONS = ['-reprod', '-dlb', 'no', '-notunepme', '-pin', 'off', '-s', 'water.tpr']


def prepare(folder, tool):
    for name in ('water.mdp', 'water.top'):
        shutil.copy(INPUTS / name, folder)
    tool('gmx', '-quiet', 'solvate', '-cs', 'spc216.gro', '-box', '2.5', '2.5', '2.5', '-p', 'water.top', '-o', 'water.gro')
    tool('gmx', '-quiet', 'grompp', '-f', 'water.mdp', '-c', 'water.gro', '-p', 'water.top', '-o', 'water.tpr')


def threads(count, own=1):
    name = f'threads_{count}' if own == 1 else f'own_threads_{own}_threads_{count}'
    return Case(name, ['gmx', '-quiet', 'mdrun', *OPTIONS, '-ntmpi', own, '-ntomp', count], RESULTS, count)


def ranks(count, inside):
    return Case(f'ranks_{count}_threads_{inside}', ['gmx_mpi', '-quiet', 'mdrun', *OPTIONS, '-ntomp', inside], RESULTS, inside, count)


if __name__ == '__main__':
    sys.exit(test(Program('gromacs', {'gmx': 'gromacs', 'gmx_mpi': 'gromacs'}, prepare,
                          [threads(2), threads(4), threads(2, own=2), ranks(2, 1), ranks(2, 2)])))
