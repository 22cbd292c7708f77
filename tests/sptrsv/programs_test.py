#!/usr/bin/env python3
"""The triangular solves from outside: all versions and numbers of ranks solve the same systems.

usage: programs_test.py --serial PROGRAM --fult FULT_RUN PROGRAM [--mpi MPIEXEC PROGRAM]
"""
import sys
import tempfile
import xml.dom.minidom
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'support'))
from program_checks import expect, expect_progress, expect_refused, run, run_checks_of_versions, words_of_result  # noqa: E402

FIELDS = ['system', 'rows', 'entries', 'levels', 'execution', 'ranks', 'tasks and messages of a solve', 'seconds of a solve',
          'difference from the serial solution', 'residual', 'verification', 'result']
SYSTEMS = [(['40', '30'], 1200, 1200 + 39 * 30 + 40 * 29, 69),
           (['--stencil=box', '--backward', '9', '8', '7'], 504, (504 + 25 * 22 * 19) // 2, 0),
           (['--order=dissected', '--factor=triangle', '33', '65'], 2145, 2145 + 32 * 65 + 33 * 64, 0)]


def result(*command):
    done = run(*command)
    expect(done.returncode == 0, f'{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}')
    report = dict(line.split(': ', 1) for line in done.stdout.splitlines())
    expect(list(report) == FIELDS, f'{command}: the report has {list(report)}')
    expect(report['verification'].startswith('passed'), report)
    found = words_of_result('result: ' + report['result'])
    expect(found['verified'] == 'yes' and float(found['residual']) < 1e-14, found)
    expect(float(found['seconds']) >= float(found['best']) > 0, found)
    return found


def programs(line):
    """[(ranks, words that start the program)]"""
    launcher, program = line.fult
    every = [(1, [line.serial]), (1, [program, '--workers=2', '--section=50'])]
    every += [(ranks, [launcher, '-n', ranks, program, f'--workers={workers}', f'--section={section}'])
              for ranks, workers, section in [(2, 1, 20), (3, 2, 100), (4, 1, 1000)]]
    if line.mpi:
        every += [(ranks, [line.mpi[0], '-n', ranks, line.mpi[1]]) for ranks in (1, 2)]
    return every


def same_systems(line):
    for words, rows, entries, levels in SYSTEMS:
        for ranks, command in programs(line):
            found = result(*command, '--solves=3', *words)
            expect((found['rows'], found['entries'], found['ranks']) == (str(rows), str(entries), str(ranks)), found)
            expect(found['solves'] == '3', found)
            levels = levels or int(found['levels'])
            expect(found['levels'] == str(levels), f'{found}, and {levels} levels before')
            expect((int(found['messages']) > 0) == (ranks > 1), found)


def one_worker(line):
    found = result(line.fult[1], '--workers=1', '--section=1', '--task=1', '--solves=1', 20, 20)
    expect(found['tasks'] == '400' and found['messages'] == '0', found)


def more_ranks_than_rows(line):
    launcher, program = line.fult
    result(launcher, '-n', 4, program, '--workers=1', 2, 1)
    if line.mpi:  # few processes: those that poll take long where there are fewer processors
        result(line.mpi[0], '-n', 3, line.mpi[1], '--solves=1', 2, 1)


def files(line):
    with tempfile.TemporaryDirectory() as scratch:
        matrix, again, plot = (Path(scratch) / name for name in ('matrix.mtx', 'again.mtx', 'levels.svg'))
        first = result(line.serial, f'--write={matrix}', f'--plot={plot}', 12, 11)
        expect('132 rows in 22 levels' in xml.dom.minidom.parse(str(plot)).toxml(), plot.read_text())
        launcher, program = line.fult
        second = result(launcher, '-n', 2, program, '--workers=1', '--factor=triangle', f'--write={again}', matrix)
        expect((first['entries'], first['levels']) == (second['entries'], second['levels']), f'{first} and {second}')
        expect(matrix.read_text() == again.read_text(), 'the matrix was not read as it was written')


def progress(line):
    for program in (line.serial, line.fult[1]):
        expect_progress('solve 2 of 2 of 100 rows', program, '--solves=2', 10, 10)


def errors(line):
    with tempfile.TemporaryDirectory() as scratch:
        bad = Path(scratch) / 'bad.mtx'
        bad.write_text('%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 oops\n')
        for program in [line.serial, line.fult[1]] + line.mpi[1:]:
            expect_refused(2, "ny: must be a whole number from 1 to 2147483647, not 'ten'", program, 10, 'ten')
            expect_refused(1, f"{bad}:4:5: 'oops' is not a number; expected the value of an entry\n", program, bad)


if __name__ == '__main__':
    sys.exit(run_checks_of_versions([same_systems, one_worker, more_ranks_than_rows, files, progress, errors]))
