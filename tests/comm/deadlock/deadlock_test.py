#!/usr/bin/env python3
"""Deadlocks of several ranks between processes. usage: deadlock_test.py FULT_RUN PROGRAM [--part=K/N]

Every function with a docstring is a case. Prints TAP. Cases whose provider is missing are skipped.
"""
import os
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bootstrap'))
from launching import NETWORK, Job, Skipped, cases_of, expect, main, run, until  # noqa: E402

FULT_RUN, PROGRAM = (os.path.abspath(a) for a in sys.argv[1:3])
DEDICATED = {'FULT_COMM_SERVER': 'dedicated'}
FIRST_LINE = 'deadlock across ranks: every task of all'
ABORTED = 128 + signal.SIGABRT


def start(ranks, case, environment):
    environment = {'FULT_WORKERS': '1', 'FULT_TRIM_AFTER': '100', **environment}
    return [FULT_RUN, '-n', ranks, PROGRAM, case], environment


def outcome(ranks, case, environment):
    command, environment = start(ranks, case, environment)
    status, out, err = run(command, env=environment)
    if 'no provider' in err:
        raise Skipped(err.splitlines()[0])
    return status, out, err


def deadlocks(ranks, case, *texts, left=0, **environment):
    # Each rank that has not left reports once, in rank order, and the job ends.
    status, _, err = outcome(ranks, case, {'FULT_DEADLOCK': 'abort', **environment})
    wanted = [f'fult: rank {r} of {ranks}' for r in range(ranks - left)]
    found = [line.partition(': ' + FIRST_LINE)[0] for line in err.splitlines() if FIRST_LINE in line]
    expect(status == ABORTED and found == wanted, f'{case}: status {status}: {err[-3000:]}')
    for text in texts:
        expect(text in err, f'{case}: no "{text}": {err[-3000:]}')


def goes_on(ranks, case, **environment):
    # With looks every few milliseconds.
    status, out, err = outcome(ranks, case, {'FULT_DEADLOCK': 'abort', 'FULT_TRIM_AFTER': '3', **environment})
    expect(status == 0 and f'{case}: ok' in out and 'deadlock' not in err, f'{case}: status {status}: {err[-3000:]}')


def two_ranks_receive_first():
    """Both report it with call, rank, tag and endpoint, and the job ends."""
    deadlocks(2, 'all_receive', '1 task waits for a message from rank 1, tag 7, endpoint 0 (world)',
              '1 task waits for a message from rank 0, tag 7, endpoint 0 (world)', 'every task of all 2 ranks waits')


def without_another_look_interval():
    """The same with the options that a program has by default, and two workers."""
    deadlocks(2, 'all_receive', FULT_TRIM_AFTER='1000', FULT_WORKERS='2')
    deadlocks(3, 'all_receive', FULT_TRIM_AFTER='0')


def rings_and_crowds():
    """4 ranks in a ring, of receives and of long sends; 16 ranks of one worker."""
    deadlocks(4, 'all_receive')
    deadlocks(4, 'all_send_long', 'rank 1 to take its message of 3000000 bytes, tag 8, endpoint 0 (world)')
    deadlocks(16, 'all_receive')


def collectives():
    """A barrier and a receive; a collective that one rank skips, while it waits for an event."""
    deadlocks(4, 'barrier_and_receive', 'waits for a message from rank 1, tag 9')
    deadlocks(3, 'skipped_collective', 'waits for event', 'the collectives of endpoint 0 (world)')


def any_source():
    """Receives from any rank."""
    deadlocks(3, 'from_any_rank', 'waits for a message from any rank, any tag, endpoint 1')


def subsets():
    """The report names ranks by their numbers in the endpoint and in the job."""
    deadlocks(3, 'subset_receives', '1 task waits for a message from rank 2 (rank 0 of the job), tag 7, endpoint 2046')


def unreceived_messages():
    """A receive that no message matches lists those that no receive has asked for."""
    for case, endpoint in ('another_tag', '0 (world)'), ('another_tag_with_wildcards', '1'):
        deadlocks(3, case, f'a message from rank 2, tag 7, endpoint {endpoint} (unreceived there: ',
                  '4 bytes from rank 2, tag 5; ', '8 bytes from rank 1, tag 7; ', '; and 2 more):')


def after_messages():
    """After messages of all kinds, some of which were not received; over one device and over three."""
    deadlocks(3, 'after_messages')
    deadlocks(3, 'after_messages', FULT_COMM_DEVICES='3', FULT_WORKERS='2', **DEDICATED)


def one_has_left():
    """No report is requested from a rank that has left."""
    deadlocks(3, 'one_has_left', 'all 3 ranks, but for 1 that have left', left=1)


def what_ended_before():
    """Another thread of the program has ended; one rank, the first or the last, begins to wait much later."""
    deadlocks(2, 'a_thread_has_ended')
    deadlocks(3, 'one_is_late')
    deadlocks(3, 'another_is_late')


def over_the_network():
    """The same over the network's provider, with a worker or a dedicated server that polls."""
    for more in {}, DEDICATED:
        deadlocks(2, 'all_receive', **NETWORK, **more)
        deadlocks(3, 'after_messages', **NETWORK, **more)
        deadlocks(3, 'one_has_left', left=1, **NETWORK, **more)


def over_the_fabrics_shared_memory():
    """The same over libfabric's own shared memory."""
    deadlocks(2, 'all_receive', FULT_COMM_SAME_HOST='shm')
    deadlocks(3, 'after_messages', FULT_COMM_SAME_HOST='shm')


def dedicated_servers():
    """With a kernel thread that polls for each device."""
    deadlocks(3, 'all_receive', **DEDICATED)
    deadlocks(3, 'another_is_late', FULT_COMM_DEVICES='2', **DEDICATED)


def reports_alone():
    """FULT_DEADLOCK=report: each rank reports once, and the job does not end."""
    command, environment = start(2, 'all_receive', {'FULT_DEADLOCK': 'report'})
    job = Job(command, env=environment)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(iter(job.process.stderr.readline, '')))
    reader.start()
    until(lambda: sum('waits for a message' in line for line in lines) == 2, 'two reports')
    try:
        job.process.wait(1)  # time: either order is right
        expect(False, 'the job has ended')
    except subprocess.TimeoutExpired:
        pass
    job.process.send_signal(signal.SIGTERM)
    job.process.wait()
    reader.join()
    expect(sum(FIRST_LINE in line for line in lines) == 2, ''.join(lines))


def silence():
    """FULT_DEADLOCK=off: on all ranks, or on one of them, and there is no report."""
    for setting in 'FULT_DEADLOCK=off', 'test $FULT_RUN_RANK = 1 && export FULT_DEADLOCK=off':
        command, environment = start(2, 'all_receive', {'FULT_DEADLOCK': 'abort'})
        script = f'export FULT_DEADLOCK; {setting}; exec {PROGRAM} all_receive'
        job = Job([*command[:3], 'sh', '-c', script], env=environment)
        try:
            _, err = job.process.communicate(timeout=1.5)  # time: either order is right
            expect(False, f'{setting}: the job has ended: {err}')
        except subprocess.TimeoutExpired:
            pass
        job.process.send_signal(signal.SIGTERM)
        err = job.process.communicate()[1]
        expect('deadlock' not in err, f'{setting}: {err}')


def what_is_none():
    """One rank computes, sleeps, or waits for a thread, a blocking call, a descriptor, a signal."""
    for case in ('computes', 'sleeps', 'waits_for_a_thread', 'blocks', 'waits_for_a_descriptor', 'waits_for_a_signal'):
        goes_on(3, case)
    goes_on(2, 'computes', **NETWORK)
    goes_on(2, 'sleeps', FULT_WORKERS='2', **DEDICATED)


def moments_in_which_nearly_all_wait():
    """Pauses between barriers; a relay, in which one rank at a time is busy, or only a message is under way."""
    goes_on(3, 'pauses')
    goes_on(2, 'relay', FULT_TRIM_AFTER='1')
    goes_on(3, 'relay', FULT_TRIM_AFTER='1', FULT_COMM_DEVICES='2', **DEDICATED)
    goes_on(3, 'relay', FULT_TRIM_AFTER='1', FULT_WORKERS='2', **NETWORK)


def contexts_side_by_side():
    """If a process has two contexts, each of which knows only its own messages, nothing is reported."""
    goes_on(2, 'another_context')


if __name__ == '__main__':
    sys.exit(main(cases_of('__main__')))
