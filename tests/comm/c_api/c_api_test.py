#!/usr/bin/env python3
"""The C interface between processes. usage: c_api_test.py FULT_RUN PROGRAM

Every function with a docstring is a case. Prints TAP. Cases whose provider is missing are skipped.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bootstrap'))
from launching import NETWORK, Skipped, cases_of, expect, main, run  # noqa: E402

FULT_RUN, PROGRAM = (os.path.abspath(a) for a in sys.argv[1:3])


def ranks(number, *arguments, options=(), **environment):
    environment.setdefault('FULT_WORKERS', '1')
    status, out, err = run([FULT_RUN, '-n', number, *options, PROGRAM, *arguments], env=environment)
    if 'no provider' in err:
        raise Skipped(err.splitlines()[0])
    return status, out, err


def all_of_it(number, shared, **environment):
    status, out, err = ranks(number, **environment)
    expect(status == 0 and f'{number} ranks over' in out and ': 0 failures' in out, f'status {status}: {out} {err[-3000:]}')
    expect(('over shared' in out) == shared, out)


def one_rank():
    """One rank without a launcher."""
    status, out, err = run([PROGRAM], env={'FULT_WORKERS': '2'})
    expect(status == 0 and '1 ranks over self: 0 failures' in out, f'status {status}: {out} {err[-3000:]}')


def shared_memory():
    """2 and 3 ranks over shared memory."""
    all_of_it(2, True, FULT_WORKERS='2')
    all_of_it(3, True)


def network():
    """2 ranks over the network's provider."""
    all_of_it(2, False, **NETWORK)


def dies(**environment):
    status, out, err = ranks(2, 'killed', options=['--keep-going'], **environment)
    expect('killed: 0 failures' in out and status == 128 + 9, f'status {status}: {out} {err[-3000:]}')


def killed():
    """A rank kills itself while another one waits for it."""
    dies()


def departs():
    """A rank ends its context while 1 or 2 others wait for it, over both transports."""
    for number, environment in (2, {}), (3, {}), (2, NETWORK):
        status, out, err = ranks(number, 'departs', **environment)
        expect('departs: 0 failures' in out and status == 0, f'status {status}: {out} {err[-3000:]}')


def abort():
    """One ends all, with a status and the reason."""
    status, out, err = ranks(2, 'abort')
    expect(status == 7 and 'as asked for' in err, f'status {status}: {out} {err[-3000:]}')


def left():
    """A pending receive at the end ends the program with a message that names it."""
    status, out, err = run([PROGRAM, 'left'], env={'FULT_WORKERS': '1'})
    expect(status != 0 and 'ended with operations pending' in err, f'status {status}: {out} {err[-3000:]}')


if __name__ == '__main__':
    sys.exit(main(cases_of('__main__')))
