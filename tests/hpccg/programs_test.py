#!/usr/bin/env python3
"""The programs of HPCCG from outside: same residuals, the report, exit statuses. usage: programs_test.py PROGRAM...

The serial program comes first. Output is that of TAP.
"""
import os
import resource
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'support'))
from program_checks import expect, run, run_checks  # noqa: E402

FIELDS = ['Mini-Application Name: hpccg', 'Mini-Application Version: 1.0', 'Parallelism: ', 'Dimensions: ', '  nx: 22',
          '  ny: 21', '  nz: 20', 'Number of iterations: 149', 'Final residual: ', 'Time Summary: ', 'FLOPS Summary: ',
          'MFLOPS Summary: ', 'Difference between computed and exact: ', 'Verification: passed']


def residuals(path):
    return [float(line.split()[1]) for line in path.read_text().splitlines()]


def same_residuals(programs, scratch):
    out = scratch / 'residuals'
    expected = None
    for program in programs:
        for workers in [1] if program == programs[0] else [1, 2, 8]:
            done = run(program, '--workers', workers, '--residuals', out, 22, 21, 20)
            expect(done.returncode == 0, f'{program}: {done.stderr}')
            found = residuals(out)
            expected = expected or found
            expect(len(found) == 150 == len(expected), f'{program}: {len(found)} residuals')
            for k, (a, b) in enumerate(zip(found, expected)):
                expect(abs(a - b) <= 1e-12 * abs(b), f'{program}, {workers} workers, iteration {k}: {a} and {b}')


def report(programs, scratch):
    for program in programs:
        done = run(program, 22, 21, 20)
        lines = done.stdout.splitlines()
        for field in FIELDS:
            exact = not field.endswith(': ') or field in ('Parallelism: ', 'Dimensions: ') or 'Summary' in field
            expect(any(line == field if exact else line.startswith(field) for line in lines),
                   f'{program}: no {field!r} in\n{done.stdout}')
        expect(lines[0].startswith('Initial Residual = '), lines[0])
        shown = [int(line.split()[2]) for line in lines if line.startswith('Iteration = ')]
        expect(shown == [*range(15, 149, 15), 149], f'{program}: residuals of {shown}')
        for part in ('Total', 'DDOT', 'WAXPBY', 'SPARSEMV'):
            expect(sum(line.strip().startswith(part) for line in lines) == 3, f'{program}: {part}')
        rows, entries = 22 * 21 * 20, 64 * 61 * 58
        flops = 149 * (10 * rows + 2 * entries)
        total = [line for line in lines if line.startswith('  Total')][1]
        expect(abs(float(total.split(':')[1]) - flops) < 1e-4 * flops, f'{program}: {total}, not {flops}')


def files(programs, scratch):
    matrix, again = scratch / 'matrix', scratch / 'again'
    first, second = scratch / 'first', scratch / 'second'
    done = run(programs[0], '--write', matrix, '--residuals', first, 9, 8, 7)
    expect(done.returncode == 0, done.stderr)
    for program in programs:
        done = run(program, '--write', again, '--residuals', second, matrix)
        expect(done.returncode == 0, f'{program}: {done.stderr}')
        expect(again.read_text() == matrix.read_text(), f'{program} writes another matrix')
        expect(second.read_text() == first.read_text(), f'{program} has other residuals')


def refuses(command, status, message, **more):
    done = run(*command, **more)
    expect(done.returncode == status, f'{command}: status {done.returncode}, {done.stderr}')
    expect(done.stderr == f'hpccg: {message}\n', f'{command}: {done.stderr}')
    expect(done.stdout == '', f'{command}: {done.stdout}')


def bad_input(programs, scratch):
    bad = scratch / 'bad'
    bad.write_text('2 2\n1\n1\n1 5.5 0\n1 oops 1\n0 1 1 0 1 1\n')
    for program in programs:
        refuses([program, 3, 3], 2, 'expected nx ny nz or the name of a matrix file, and got 2 words; '
                '--help lists the options')
        refuses([program, 3, -3, 3], 2, "ny: must be a whole number from 1 to 2147483647, not '-3'; --help lists the options")
        refuses([program, scratch / 'none'], 1, f"cannot read '{scratch}/none': No such file or directory")
        refuses([program, bad], 1, f"{bad}:5:3: 'oops' is not a number; expected a value of row 1")
    refuses([programs[0], '--workers', 2, 3, 3, 3], 2,
            '--workers: the serial program has one; --help lists the options')
    if os.geteuid() != 0:  # root may read everything
        bad.chmod(0)
        refuses([programs[0], bad], 1, f"cannot read '{bad}': Permission denied")


def too_large(programs, scratch):
    # 1290^3 needs 775 GiB. Where a machine has that, the limit of the process is what is in the way.
    limit = 64 << 30

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    for program in programs:
        done = run(program, '--workers', 1, 1290, 1290, 1290, preexec_fn=limited)
        expect(done.returncode == 1, f'{program}: status {done.returncode}')
        expect(done.stderr.startswith('hpccg: the grid 1290 x 1290 x 1290 needs ') and
               done.stderr.endswith(' are available; take a smaller one\n'), f'{program}: {done.stderr}')


def unfinished(programs, scratch):
    for program in programs:
        done = run(program, '--iterations', 2, 22, 21, 20)
        expect(done.returncode == 1, f'{program}: status {done.returncode}')
        expect('Verification: failed' in done.stdout, done.stdout)
        expect('more --iterations may help' in done.stderr, done.stderr)


def help_is_there(programs, scratch):
    for program in programs:
        done = run(program, '--help')
        expect(done.returncode == 0 and 'usage:' in done.stdout and not done.stderr, f'{program}: {done}')


def main():
    programs = [Path(p) for p in sys.argv[1:]]
    checks = [same_residuals, report, files, bad_input, too_large, unfinished, help_is_there]
    with tempfile.TemporaryDirectory() as scratch:
        return run_checks(checks, programs, Path(scratch))


if __name__ == '__main__':
    sys.exit(main())
