#!/usr/bin/env python3
"""What the ranks of the conformance program do after some time. usage: conformance_timed_test.py FULT_RUN PROGRAM STRANGER [slow]

Every function with a docstring is a case. Prints TAP. Cases whose provider is missing are skipped.
"""
import contextlib
import glob
import os
import signal
import sys
import time

from conformance_test import FULT_RUN, NETWORK, PROGRAM, dies
from launching import Job, cases_of, expect, main, run, until


def killed():
    """A rank kills itself while others wait for it, over shared memory and over the network's provider, where silence shows it."""
    for environment in {}, {'FULT_COMM_HEARTBEAT': '3', **NETWORK}:
        begin = time.monotonic()
        dies(3, **environment)
        expect(time.monotonic() - begin < 30, 'within a bounded time')


def a_rank_that_does_not_come_to_the_end():
    """The others end without it after FULT_COMM_TIMEOUT, and name the missing rank and how to see what it waits for."""
    for name, wanted in ((None, 'start the program with FULT_DUMP_SIGNAL=USR1'), ('USR2', '`kill -USR2`')):
        environment = {'FULT_COMM_TIMEOUT': '1', **({'FULT_DUMP_SIGNAL': name} if name else {})}
        status, out, err = run([FULT_RUN, '-n', 3, PROGRAM, 'late', 4], env=environment)
        expect(err.count('ends without the others: ') >= 2 and 'rank 2 did not come' in err and wanted in err,
               f'{status} {err}')


# The process id of a rank, or None before its start and after its end.
def process_of(job, rank):
    mark = f'FULT_RUN_RANK={rank}'.encode()
    for pid in job.left():
        try:
            with open(f'/proc/{pid}/environ', 'rb') as file:
                if mark in file.read().split(b'\0'):
                    return pid
        except OSError:
            pass  # it has just ended
    return None


def has_thread(pid, name):
    for file in glob.glob(f'/proc/{pid}/task/*/comm'):
        try:
            if open(file).read().strip() == name:
                return True
        except OSError:
            pass  # it has just ended
    return False


def a_late_rank_is_named_by_all():
    """A rank that is not run when the others stop waiting, and finds that one of them has ended, still names the late one."""
    job = Job([FULT_RUN, '-n', 3, PROGRAM, 'late', 6], env={'FULT_COMM_TIMEOUT': '2'})
    until(lambda: process_of(job, 0) and process_of(job, 1), 'ranks 0 and 1 start')
    first, second = process_of(job, 0), process_of(job, 1)
    # On a busy machine it may have ended before it is seen: then it has not been stopped.
    until(lambda: has_thread(second, 'fult-end') or process_of(job, 1) != second, 'rank 1 waits for the others')
    with contextlib.suppress(ProcessLookupError):
        os.kill(second, signal.SIGSTOP)
    try:
        until(lambda: process_of(job, 0) != first, 'rank 0 ends')
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(second, signal.SIGCONT)
    status, out, err = job.finish()
    expect(err.count('ends without the others: ') >= 2 and err.count('rank 2 did not come') >= 2, f'{status} {err}')


sys.exit(main(cases_of('__main__')))
