#!/usr/bin/env python3
"""Tests of the program fult-run that depend on time. usage: fult_run_timed_test.py FULT_RUN PROBE

Every function with a docstring is a case. Prints TAP.
"""
import sys

from fult_run_test import PROBE, cleans_up, ranks
from launching import cases_of, expect, main


def survivors_may_clean_up():
    """Ranks that fult-run ends get SIGTERM first, and have two seconds."""
    status, out, err = cleans_up()
    expect((status, out) == (4, 'clean\n'), f'{status} {out} {err}')


def a_late_peer_of_two():
    """The wait ends, and names the missing rank."""
    status, _, err = ranks(2, PROBE, 'late', 200)
    expect(status == 9 and 'fult: rank 1 did not come to a barrier within 200 ms' in err, f'{status} {err}')


sys.exit(main(cases_of('__main__')))
