#!/usr/bin/env python3
"""Global memory between processes, over shared memory and the network.

usage: global_test.py FULT_RUN PROGRAM [slow] [--part=K/N]

Every function with a docstring is a case. Prints TAP.
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'comm', 'bootstrap'))
from launching import NETWORK, Skipped, cases_of, expect, main, run  # noqa: E402

FULT_RUN, PROGRAM = (os.path.abspath(a) for a in sys.argv[1:3])


def works(ranks, *cases, **environment):
    environment.setdefault('FULT_WORKERS', '1')
    status, out, err = run([FULT_RUN, '-n', ranks, PROGRAM, *cases], env=environment)
    if 'no provider' in err:
        raise Skipped(err.splitlines()[0])
    done = [line for line in out.splitlines() if line.startswith('ok ')]
    expect(status == 0 and (len(done) > 10 or cases), f'status {status}, done {done}: {err[-3000:]}')


def one_rank():
    """One rank without a launcher."""
    status, out, err = run([PROGRAM])
    expect(status == 0 and out.count('ok ') > 10, f'{status} {out} {err}')


def shared_memory():
    """1 to 4 ranks over shared memory."""
    for ranks in (1, 2, 3, 4):
        works(ranks)


def shared_memory_two_workers():
    """2 ranks of 2 workers over shared memory, with a dedicated server and few packets."""
    works(2, FULT_WORKERS='2')
    works(2, FULT_WORKERS='2', FULT_COMM_SERVER='dedicated', FULT_COMM_PACKETS='8')


def network():
    """2 and 3 ranks over the network's provider."""
    works(2, **NETWORK)
    works(3, **NETWORK)


def missing_function():
    """A task at a rank whose program lacks the function ends with an error that names both."""
    status, out, err = run([FULT_RUN, '-n', 3, PROGRAM, 'missing'])
    expect(status == 0 and 'of_rank_0_only is not in the program of rank 2' in out, f'status {status}: {out} {err}')


def killed():
    """A rank kills itself while 1 or 3 others access its heap: each access ends with an error that names it, and so
    do accesses of memory that has ended."""
    for ranks, case in ((2, 'killed'), (4, 'killed'), (2, 'killed_unmapped')):
        status, out, err = run([FULT_RUN, '-n', ranks, '--keep-going', PROGRAM, case])
        expect('ok killed' in out and status == 128 + 9, f'status {status}: {out} {err[-3000:]}')


def forked():
    """The child of a fork that accesses a heap ends with a message, and changes nothing."""
    status, out, err = run([FULT_RUN, '-n', 2, PROGRAM, 'forked'])
    expect(status == 0 and 'ok forked' in out and 'fult: fork: ' in err, f'status {status}: {out} {err[-3000:]}')


if __name__ == '__main__':
    sys.exit(main(cases_of(__name__)))
