#!/usr/bin/env python3
"""The programs from outside: all versions, schemes and numbers of ranks have the same tallies.

usage: programs_test.py --serial PROGRAM --fult FULT_RUN PROGRAM [--mpi MPIEXEC PROGRAM]
"""
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'support'))
from program_checks import expect, expect_progress, expect_refused, run, run_checks_of_versions, words_of_result  # noqa: E402

PLOT = Path(__file__).resolve().parents[2] / 'apps' / 'monte_carlo' / 'plot'
UNSEEDED = ['2000', '--points=3000', '--nuclides=6', '--bands=9', '--thickness=25']
# Tables of 2.6 MB together: a cache of 1 MiB evicts.
SLAB = UNSEEDED + ['--seed=5']
TALLIES = ['particles', 'collisions', 'absorbed', 'leaked', 'checksum', 'verified']


def result(*command):
    done = run(*command)
    expect(done.returncode == 0, f'{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}')
    lines = done.stdout.splitlines()
    compared = 'not compared' if '--no-check' in command else 'compared with those of one thread'
    expect(any(line.startswith('verification: passed;') and compared in line for line in lines), done.stdout)
    words = words_of_result(lines[-1])
    expect(words['verified'] == 'yes' and words['particles'] == '2000', words)
    expect(int(words['absorbed']) + int(words['leaked']) == 2000 and int(words['absorbed']) > 200 and int(words['leaked']) > 200, words)
    return words


def tallies(words):
    return [words[name] for name in TALLIES]


def same_tallies(line):
    serial = result(line.serial, *SLAB)
    expect(tallies(serial) == tallies(result(line.serial, *SLAB, '--no-check')), serial)
    expect(serial['checksum'] != result(line.serial, *UNSEEDED, '--seed=6')['checksum'], 'the seed changes nothing')
    launcher, program = line.fult
    for scheme in ('simple', 'prefetch'):
        found = result(program, *SLAB, f'--scheme={scheme}', '--workers=2')
        expect(tallies(found) == tallies(serial) and found['scheme'] == scheme, f'{found} and {serial}')
    for ranks, scheme, *more in [(2, 'simple'), (3, 'simple', '--cache=1'), (2, 'dedicated'), (4, 'dedicated', '--servers=2'),
                                 (2, 'prefetch', '--workers=2'), (3, 'prefetch', '--cache=1', '--in-flight=7'),
                                 (2, 'prefetch', '--in-flight=1', '--no-check')]:
        found = result(launcher, '-n', ranks, program, *SLAB, f'--scheme={scheme}', *(more or ['--workers=1']))
        expect(tallies(found) == tallies(serial), f'{scheme} {more}: {found} and {serial}')
        expect(found['ranks'] == str(ranks) and found['scheme'] == scheme, found)
    if line.mpi:
        launcher, program = line.mpi
        for ranks, servers in [(2, 1), (3, 1), (3, 2)]:
            found = result(launcher, '-n', ranks, program, *SLAB, f'--servers={servers}')
            expect(tallies(found) == tallies(serial) and found['scheme'] == 'dedicated', f'{found} and {serial}')


def few_particles(line):
    launcher, program = line.fult
    for scheme in ('simple', 'prefetch', 'dedicated'):  # ranks have none
        done = run(launcher, '-n', 3, program, 1, '--points=10', '--bands=2', f'--scheme={scheme}')
        expect(done.returncode == 0 and 'verification: passed' in done.stdout, done)


def plot(line):
    with tempfile.TemporaryDirectory() as folder:
        launcher, program = line.fult
        one, two = Path(folder) / 'tasks.txt', Path(folder) / 'serial.txt'
        expect(run(launcher, '-n', 2, program, *SLAB, f'--tallies={one}').returncode == 0, 'no tallies')
        expect(run(line.serial, *SLAB, f'--tallies={two}').returncode == 0, 'no tallies')
        expect(one.read_text() == two.read_text(), 'the tallies differ')
        rows = [row.split() for row in one.read_text().splitlines()]
        expect([row[0] for row in rows] == ['energy'] * 120 + ['depth'] * 50, rows)
        done = run(sys.executable, PLOT, one)
        picture = one.with_suffix('.svg').read_text()
        expect(done.returncode == 0 and picture.count('<polyline') == 2 and 'energy in eV' in picture, done)
        one.write_text('energy 1 2\n')
        done = run(sys.executable, PLOT, one)
        expect(done.returncode == 1 and ":1: must be 'energy' or 'depth' and three numbers, not 'energy 1 2'" in done.stderr, done)
    for program in ([line.serial], [launcher, '-n', 2, program]):
        done = run(*program, 100, '--points=10', '--tallies=/nowhere/tallies.txt')
        expect(done.returncode == 1 and "cannot write '/nowhere/tallies.txt'" in done.stderr, done)


def progress(line):
    launcher, program = line.fult
    expect_progress('sweep 1, band 0: 300 particles fly', line.serial, 300, '--points=10')
    expect_progress('300 of 300 particles', program, 300, '--points=10')
    expect_progress('sweep 1, band 0: 300 particles fly', program, 300, '--points=10', '--scheme=simple')


def errors(line):
    launcher, program = line.fult
    for each in [line.serial, program] + line.mpi[1:]:
        expect_refused(2, "particles: must be a whole number from 1 to 1000000000, not 'many'", each, 'many')
    expect_refused(1, "1 of 1 ranks are servers, and none is left to track particles; start more, with 'fult-run -n 2' at least",
                   program, 10, '--scheme=dedicated')
    done = run(launcher, '-n', 2, program, 10, '--scheme=dedicated', '--servers=2')
    expect(done.returncode == 1 and "start more, with 'fult-run -n 3' at least" in done.stderr, done)
    if line.mpi:
        done = run(line.mpi[0], '-n', 1, line.mpi[1], 10)
        expect(done.returncode == 1 and "start more, with 'mpiexec -n 2' at least" in done.stderr, done)


if __name__ == '__main__':
    sys.exit(run_checks_of_versions([same_tallies, few_particles, plot, progress, errors]))
