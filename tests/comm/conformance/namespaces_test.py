#!/usr/bin/env python3
"""The conformance program in network namespaces, over an unreliable network.

usage: namespaces_test.py FULT_RUN PROGRAM [slow]

Every function with a docstring is a case. Prints TAP. Skipped if the system permits no such namespaces.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bootstrap'))
from bad_network import Impossible, Network  # noqa: E402
from launching import Job, Skipped, cases_of, expect, main  # noqa: E402

FULT_RUN, PROGRAM = (os.path.abspath(a) for a in sys.argv[1:3])
SLOW = sys.argv[3:] == ['slow']
RANKS = 4
# The ranks share no host, so only silence shows the end of a rank.
APART = {'FULT_COMM_SAME_HOST': 'none', 'FULT_COMM_INTERFACE': 'fult0', 'FULT_WORKERS': '1'}


def network(**how):
    try:
        return Network(RANKS, **how)
    except (Impossible, OSError) as why:
        raise Skipped(f'no namespaces with a network of their own: {why}')


def start(joined, *arguments, **environment):
    return Job([FULT_RUN, '-n', RANKS, '--keep-going', *joined.command([PROGRAM, *map(str, arguments)])],
               env={**APART, **environment})


def finish(job, joined, status, text):
    got, out, err = job.finish()
    expect(got == status and text in out, f'status {got}: {out} {err[-3000:]}')
    expect(not job.left(), f'left behind: {job.left()}')
    expect(joined.carried > 100, 'nothing went over the network')
    return out


def conforms():
    """4 ranks in 4 namespaces, 1 ms apart."""
    with network(delay=0.0005, jitter=0.0005) as joined:
        cases = ['sizes_unexpected', 'truncation', 'wait_for_any', 'one_tag', 'late_endpoint', 'wildcards']
        out = finish(start(joined, *cases), joined, 0, 'wildcards: ok')
        expect(all(f'{each}: ok' in out for each in cases), out)


def soaks_with_loss_and_delay():
    """Contents and order while packets are lost, late and out of order."""
    with network(loss=0.01, delay=0.001, jitter=0.002) as joined:
        finish(start(joined, 'soak', 5 if SLOW else 10), joined, 0, 'soak: ok')
        expect(joined.lost > 0, 'nothing was lost')


if __name__ == '__main__':
    sys.exit(main(cases_of('__main__')))
