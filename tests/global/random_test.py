#!/usr/bin/env python3
"""Random programs of global memory against an oracle: tests/global/random_cases.cpp.

usage: random_test.py FULT_RUN PROGRAM [--seed N] [--count N] [--seconds N] [--keep-on]

Prints the seed and the command of each job of some programs before it runs. Without --seed, the clock provides one.
"""
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'comm', 'bootstrap'))
from launching import NETWORK, run  # noqa: E402
from seeds import parser_of_seeds, run_all  # noqa: E402

PROGRAMS_OF_A_JOB = 5


class Job:
    """Drawn from the seed: ranks, and settings of the runtime and of messages."""

    def __init__(self, given, seed):
        choice = random.Random(seed)
        self.seed = seed
        self.settings = {'FULT_WORKERS': choice.choice('112'),
                         'FULT_COMM_SERVER': choice.choice(['workers', 'workers', 'dedicated']),
                         **({'FULT_COMM_PACKETS': '8'} if choice.random() < 0.3 else {}),
                         **(NETWORK if choice.random() < 0.3 else {})}
        self.command = [os.path.abspath(given.fult_run), '-n', choice.choice([1, 2, 2, 3, 4, 5]), os.path.abspath(given.program),
                        'random', seed * PROGRAMS_OF_A_JOB, PROGRAMS_OF_A_JOB]

    def __str__(self):
        settings = [f'{name}={value}' for name, value in self.settings.items()]
        return f'--seed {self.seed}: ' + ' '.join(map(str, settings + self.command))

    def attempt(self):
        """What is wrong, and its errors."""
        status, out, err = run(self.command, env=self.settings)
        return ('' if status == 0 and 'ok random' in out else f'status {status}: {out}'), err


def main():
    given = parser_of_seeds().parse_args()
    return run_all(given, lambda seed: Job(given, seed), Job.attempt)


if __name__ == '__main__':
    sys.exit(main())
