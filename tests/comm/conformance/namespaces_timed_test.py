#!/usr/bin/env python3
"""A rank is lost over an unreliable network. usage: namespaces_timed_test.py FULT_RUN PROGRAM [slow]

Every function with a docstring is a case. Prints TAP. Skipped if the system permits no such namespaces.
"""
import sys
import time

from namespaces_test import SLOW, finish, network, start
from launching import cases_of, expect, main


def loses_a_rank():
    """One rank is killed during an exchange; the others detect it by its silence and continue."""
    beat = 5 if SLOW else 3
    with network(loss=0.005, delay=0.001, jitter=0.001) as joined:
        begin = time.monotonic()
        finish(start(joined, 'soak_with_a_loss', 10, FULT_COMM_HEARTBEAT=str(beat)), joined, 128 + 9, 'soak_with_a_loss: ok')
        expect(time.monotonic() - begin < 15 * beat, 'within a bounded time')


sys.exit(main(cases_of('__main__')))
