#!/usr/bin/env python3
"""R's data.table: grouping, sorting, joining, reading and writing. usage: data_table_test.py FULT_OMP FULT_MPI FOLDER"""
import shutil
import sys

from programs import INPUTS, Case, Program, all_lines, test

LIBRARY = '/usr/lib/R/site-library/data.table/libs/data_table.so'


def prepare(folder, tool):
    shutil.copy(INPUTS / 'tables.R', folder)


def case(threads):
    return Case(f'threads_{threads}', ['Rscript', '--vanilla', 'tables.R'], {'output': all_lines, 'tables.csv': all_lines}, threads)


if __name__ == '__main__':
    sys.exit(test(Program('data_table', {'Rscript': 'r-base-core', LIBRARY: 'r-cran-data.table'}, prepare,
                          [case(2), case(4)], [LIBRARY])))
