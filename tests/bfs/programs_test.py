#!/usr/bin/env python3
"""The searches from outside: all versions and numbers of ranks search the same graph.

usage: programs_test.py --serial PROGRAM --fult FULT_RUN PROGRAM [--mpi MPIEXEC PROGRAM]
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'support'))
from program_checks import expect, expect_progress, expect_refused, run, run_checks_of_versions, words_of_result  # noqa: E402

FIELDS = ['SCALE', 'edgefactor', 'NBFS', 'construction_time'] + [
    f'{part}_{of}' for of in ('k2time', 'k2nedge', 'k2TEPS')
    for part in ('min', 'firstquartile', 'median', 'thirdquartile', 'max')] + [
    'mean_k2time', 'stddev_k2time', 'mean_k2nedge', 'stddev_k2nedge', 'harmonic_mean_k2TEPS', 'harmonic_stddev_k2TEPS',
    'NSSSP', 'execution', 'ranks', 'seed', 'validation', 'result']

GRAPH = ['10', '--edgefactor=1', '--searches=30', '--seed=5']  # sparse, so that it has several components


def report(*command):
    done = run(*command)
    expect(done.returncode == 0, f'{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}')
    return dict(line.split(': ', 1) for line in done.stdout.splitlines())


def all_reports(line, *words):
    """{(version, ranks): report} of the same graph."""
    reports = {('one thread', 1): report(line.serial, *words)}
    launcher, program = line.fult
    for ranks, more in [(1, ['--workers=1', '--searchers=1']), (2, ['--workers=1', '--searchers=300']),
                        (3, ['--workers=2', '--searchers=5']), (4, [])]:
        reports['FULT tasks', ranks] = report(launcher, '-n', ranks, program, *words, *more)
    if line.mpi:
        launcher, program = line.mpi
        for ranks in (1, 2):
            reports['MPI processes', ranks] = report(launcher, '-n', ranks, program, *words)
    return reports


def same_searches(line):
    reports = all_reports(line, *GRAPH)
    expected = None
    for (execution, ranks), found in reports.items():
        expect(sorted(found) == sorted(FIELDS), f'the report has {sorted(found)}')
        expect((found['SCALE'], found['edgefactor'], found['NBFS'], found['seed']) == ('10', '1', '30', '5'), found)
        expect(found['ranks'] == str(ranks) and found['execution'] == execution, found)
        expect(found['validation'].startswith('passed'), found)
        for of in ('k2time', 'k2nedge', 'k2TEPS'):
            values = [float(found[f'{part}_{of}']) for part in ('min', 'firstquartile', 'median', 'thirdquartile', 'max')]
            expect(values == sorted(values) and values[0] > 0, f'{of}: {values}')
        edges = {name: value for name, value in found.items() if name.endswith('nedge')}
        expect(edges['min_k2nedge'] != edges['max_k2nedge'], 'the graph has a single component')
        expected = expected or edges
        expect(edges == expected, f'{execution}: {edges}, but the first program had {expected}')
        result = words_of_result('result: ' + found['result'])
        expect((result['scale'], result['searches'], result['verified']) == ('10', '30', 'yes'), result)
        expect(result['teps'] == found['harmonic_mean_k2TEPS'] and result['ranks'] == str(ranks), result)


def several_mpi_sources(line):
    if line.mpi:  # few searches: processes that poll take long where there are fewer processors
        launcher, program = line.mpi
        found = report(launcher, '-n', 3, program, 6, '--searches=2')
        expect(found['validation'].startswith('passed') and found['ranks'] == '3', found)


def small_graphs(line):
    launcher, program = line.fult
    lonely = 0
    for seed in range(4):  # more ranks than vertices; some of these graphs have loops only
        done = run(launcher, '-n', 4, program, 1, '--edgefactor=1', f'--seed={seed}')
        lonely += done.stderr.count('bfs: no vertex has a neighbor; choose a larger scale or another --seed\n')
        expect((done.returncode == 0) == ('NBFS: 2\n' in done.stdout), done)
    expect(0 < lonely < 4, f'{lonely} of 4 graphs have loops only')


def other_seeds(line):
    first, second = (report(line.serial, 8, '--searches=2', '--edgefactor=2', f'--seed={seed}') for seed in (1, 2))
    expect(first['mean_k2nedge'] != second['mean_k2nedge'], 'two seeds make the same graph')


def without_validation(line):
    found = report(line.serial, 8, '--searches=2', '--no-validation')
    expect(found['validation'] == 'skipped' and found['result'].endswith(' verified=no'), found)


def progress(line):
    for program in (line.serial, line.fult[1]):
        expect_progress('search 2 of 2', program, 8, '--searches=2')


def errors(line):
    for program in [line.serial, line.fult[1]] + line.mpi[1:]:
        expect_refused(2, "scale: must be a whole number from 1 to 40, not 'ten'", program, 'ten')
    if not line.sanitized:
        expect_refused(1, 'bfs-serial: not enough memory for scale 40; choose a smaller one, or bfs on more ranks\n', line.serial, 40)


if __name__ == '__main__':
    sys.exit(run_checks_of_versions([same_searches, several_mpi_sources, small_graphs, other_seeds, without_validation, progress, errors]))
