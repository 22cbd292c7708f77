#!/usr/bin/env python3
"""The conformance program between processes. usage: conformance_test.py FULT_RUN PROGRAM [slow]

Every function with a comment string is a case. Output is that of TAP. Cases of providers that are not here are skipped.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bootstrap'))
import launching  # noqa: E402
from launching import Skipped, cases_of, expect, main, run  # noqa: E402

FULT_RUN, PROGRAM = (os.path.abspath(a) for a in sys.argv[1:3])
launching.LIMIT = 170 if sys.argv[3:] == ['slow'] else 55
NETWORK = {'FULT_COMM_SAME_HOST': 'none', 'FULT_COMM_INTERFACE': '127.0.0.1'}
# Where ranks have to share processors, each message over the network costs a change of process or two.
SOME = ['sizes_unexpected', 'pieces', 'truncation', 'wait_for_any', 'one_tag', 'late_endpoint', 'queued', 'wildcards',
        'put_with_signal', 'refused_accesses', 'region_ends_in_use', 'listed']
NAMES = run([PROGRAM, 'list'])[1].split()


def conforms(ranks, *cases, **environment):
    environment.setdefault('FULT_WORKERS', '1')
    status, out, err = run([FULT_RUN, '-n', ranks, PROGRAM, *cases], env=environment)
    if 'no provider' in err:
        raise Skipped(err.splitlines()[0])
    done = [line.split(':')[0] for line in out.splitlines() if ': ok' in line]
    wanted = list(cases) or NAMES
    expect(status == 0 and done == wanted, f'status {status}, done {done}: {err[-3000:]}')
    return out


def shared_memory_two_ranks():
    """2 ranks over shared memory."""
    conforms(2)


def shared_memory_four_ranks_two_workers():
    """4 ranks of 2 workers over shared memory, small messages not gathered."""
    conforms(4, FULT_WORKERS='2', FULT_COMM_GATHER='off')


def shared_memory_of_the_fabric():
    """2 ranks over libfabric's own shared memory."""
    conforms(2, FULT_COMM_SAME_HOST='shm')


def shared_memory_dedicated():
    """3 ranks over shared memory, each with a dedicated server, and eight packets."""
    conforms(3, FULT_COMM_SERVER='dedicated', FULT_COMM_PACKETS='8')


def network_two_ranks():
    """2 ranks over the network's provider."""
    out = conforms(2, **NETWORK)
    expect('over shm' not in out, out)


def network_four_ranks_two_workers():
    """4 ranks of 2 workers over the network's provider, small messages not gathered."""
    conforms(4, *SOME, FULT_WORKERS='2', FULT_COMM_GATHER='off', **NETWORK)


def network_dedicated():
    """2 ranks over the network's provider, each with a dedicated server."""
    conforms(2, *SOME, FULT_COMM_SERVER='dedicated', **NETWORK)


def two_devices():
    """2 ranks, on the second of two devices, over shared memory with either kind of server, and the network."""
    conforms(2, FULT_COMM_DEVICES='2')
    conforms(2, *SOME, FULT_COMM_DEVICES='2', FULT_COMM_SERVER='dedicated')
    conforms(2, *SOME, FULT_COMM_DEVICES='2', **NETWORK)


def one_rank():
    """One rank without a launcher."""
    status, out, err = run([PROGRAM])
    expect(status == 0 and out.count(': ok') == len(NAMES), f'{status} {out} {err}')


def dies(ranks, **environment):
    begin = time.monotonic()
    status, out, err = run([FULT_RUN, '-n', ranks, '--keep-going', PROGRAM, 'killed'], env=environment)
    if 'no provider' in err:
        raise Skipped(err.splitlines()[0])
    expect('killed: ok' in out and status == 128 + 9, f'status {status}: {out} {err[-3000:]}')
    expect(time.monotonic() - begin < 30, 'within a bounded time')


def killed_over_shared_memory():
    """A rank kills itself while 1 or 3 others wait for it, over shared memory, and on the second of two devices."""
    dies(2)
    dies(4)
    dies(3, FULT_COMM_DEVICES='2')


def killed_over_the_network():
    """The same over the network's provider, where silence tells."""
    dies(3, FULT_COMM_HEARTBEAT='3', **NETWORK)


def never_received():
    """A rank that receives nothing for a while: its senders wait."""
    conforms(3, 'never_received', FULT_COMM_UNEXPECTED='300K')
    conforms(2, 'never_received', FULT_COMM_UNEXPECTED='200K', **NETWORK)


sys.exit(main(cases_of(__name__)))
