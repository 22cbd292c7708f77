#!/usr/bin/env python3
"""A rank that is lost over the network, to the C interface. usage: c_api_timed_test.py FULT_RUN PROGRAM"""
import sys

from c_api_test import NETWORK, dies
from launching import cases_of, main


def killed_over_the_network():
    """A rank kills itself while another one waits for it; silence shows it."""
    dies(FULT_COMM_HEARTBEAT='1', **NETWORK)


sys.exit(main(cases_of('__main__')))
