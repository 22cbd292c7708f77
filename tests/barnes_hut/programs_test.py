#!/usr/bin/env python3
"""The simulations from outside: all versions and numbers of ranks simulate the same bodies.

usage: programs_test.py --serial PROGRAM --fult FULT_RUN PROGRAM [--mpi MPIEXEC PROGRAM]
"""
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'support'))
from program_checks import expect, expect_progress, expect_refused, run, run_checks_of_versions, words_of_result  # noqa: E402

PLOT = Path(__file__).resolve().parents[2] / 'apps' / 'barnes_hut' / 'plot'
BODIES = ['2000', '--steps=3', '--seed=5', '--sample=20']


def result(*command):
    done = run(*command)
    expect(done.returncode == 0, f'{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}')
    lines = done.stdout.splitlines()
    expect(any(line.startswith('verification: passed; 20 forces against direct summation') for line in lines), done.stdout)
    words = words_of_result(lines[-1])
    expect(words['verified'] == 'yes' and words['bodies'] == '2000' and words['steps'] == '3', words)
    expect(0 < float(words['force_error']) < 0.01 and float(words['energy_change']) < 0.002, words)
    return words


def close(one, other, part):
    return abs(float(one) - float(other)) <= part * abs(float(other))


def same_bodies(line):
    serial = result(line.serial, *BODIES)
    launcher, program = line.fult
    same = [name for name in serial if name not in ('program', 'seconds')]
    alone = result(program, *BODIES)
    expect([alone[name] for name in same] == [serial[name] for name in same], f'{alone} and {serial}')  # to the last bit
    for ranks, more in [(2, ['--workers=1']), (3, ['--workers=2', '--line=1', '--group=1']), (4, ['--line=1000000', '--cache=1'])]:
        found = result(launcher, '-n', ranks, program, *BODIES, *more)
        expect(found['ranks'] == str(ranks) and close(found['energy'], serial['energy'], 1e-3), f'{found} and {serial}')
        if '--group=1' not in more:
            expect(close(found['interactions'], serial['interactions'], 0.5), f'{found} and {serial}')
    if line.mpi:
        launcher, program = line.mpi
        for ranks in (1, 2):
            found = result(launcher, '-n', ranks, program, *BODIES)
            expect(found['ranks'] == str(ranks) and close(found['energy'], serial['energy'], 1e-3), f'{found} and {serial}')
            expect(ranks != 1 or [found[name] for name in same] == [serial[name] for name in same], f'{found} and {serial}')


def few_bodies(line):
    launchers = [line.fult] + ([line.mpi] if line.mpi else [])
    for launcher, program in launchers:  # a rank has none
        done = run(launcher, '-n', 3, program, 2, '--angle=0')
        expect(done.returncode == 0 and 'verification: passed; 2 forces' in done.stdout, done)


def wrong_results(line):
    expect_wrong = run(line.serial, 2000, '--steps=1', '--time-step=1')
    expect(expect_wrong.returncode == 1 and 'verification: failed' in expect_wrong.stdout, expect_wrong)
    expect('choose a smaller --time-step' in expect_wrong.stderr and expect_wrong.stdout.endswith('verified=no\n'), expect_wrong)


def plot(line):
    with tempfile.TemporaryDirectory() as folder:
        places = Path(folder) / 'bodies.txt'
        launcher, program = line.fult
        expect(run(launcher, '-n', 2, program, *BODIES, f'--bodies={places}').returncode == 0, 'no bodies')
        other = Path(folder) / 'serial.txt'
        expect(run(line.serial, *BODIES, f'--bodies={other}').returncode == 0, 'no bodies')
        one, two = ([[float(x) for x in text.split()] for text in file.read_text().splitlines()] for file in (places, other))
        expect(len(one) == len(two) == 2000, f'{len(one)} and {len(two)} bodies')
        expect(all(abs(a - b) < 1e-3 for p, q in zip(one, two) for a, b in zip(p, q)), 'the bodies are elsewhere')
        done = run(sys.executable, PLOT, places)
        picture = places.with_suffix('.svg').read_text()
        expect(done.returncode == 0 and picture.count('<circle') > 1000 and '2,000 bodies' in picture, done)
        places.write_text('1 2\n')
        done = run(sys.executable, PLOT, places)
        expect(done.returncode == 1 and ":1: must be three numbers, not '1 2'; write the file with --bodies" in done.stderr, done)
    done = run(line.serial, 100, '--bodies=/nowhere/bodies.txt')
    expect(done.returncode == 1 and "cannot write '/nowhere/bodies.txt'" in done.stderr, done)


def progress(line):
    for program in (line.serial, line.fult[1]):
        expect_progress('step 2 of 2', program, 200, '--steps=2')


def errors(line):
    for program in [line.serial, line.fult[1]] + line.mpi[1:]:
        expect_refused(2, "bodies: must be a whole number from 2 to 1000000000, not 'many'", program, 'many')


if __name__ == '__main__':
    sys.exit(run_checks_of_versions([same_bodies, few_bodies, wrong_results, plot, progress, errors]))
