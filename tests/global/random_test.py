#!/usr/bin/env python3
"""Random programs of global memory against an oracle: tests/global/random_cases.cpp.

usage: random_test.py FULT_RUN PROGRAM [--seed N] [--count N] [--seconds N]

Prints the command that repeats each job before it runs. Without --seed, the clock provides one.
"""
import argparse
import os
import random
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'comm', 'bootstrap'))
from launching import run  # noqa: E402

NETWORK = {'FULT_COMM_SAME_HOST': 'none', 'FULT_COMM_INTERFACE': '127.0.0.1'}
PROGRAMS_OF_A_JOB = 5


def settings_of(choice):
    """The environment of a job."""
    return {'FULT_WORKERS': choice.choice('112'),
            'FULT_COMM_SERVER': choice.choice(['workers', 'workers', 'dedicated']),
            **({'FULT_COMM_PACKETS': '8'} if choice.random() < 0.3 else {}),
            **(NETWORK if choice.random() < 0.3 else {})}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('fult_run')
    parser.add_argument('program')
    parser.add_argument('--seed', type=int)
    parser.add_argument('--count', type=int, help='jobs; with neither this nor --seconds, one')
    parser.add_argument('--seconds', type=float, help='begin no job after so many')
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else int(time.time())  # time: measured, not judged
    end = time.monotonic() + given.seconds if given.seconds else None  # time: measured, not judged
    done = failed = 0
    while done < (given.count or 1) if end is None else time.monotonic() < end:  # time: measured, not judged
        choice = random.Random(seed)
        settings = settings_of(choice)
        command = [os.path.abspath(given.fult_run), '-n', choice.choice([1, 2, 2, 3, 4, 5]), os.path.abspath(given.program),
                   'random', seed * PROGRAMS_OF_A_JOB, PROGRAMS_OF_A_JOB]
        print(f'--seed {seed}:', *(f'{name}={value}' for name, value in settings.items()), *command, flush=True)
        status, out, err = run(command, env=settings)
        if status != 0 or 'ok random' not in out:
            failed += 1
            print(f'status {status}: {out} {err[-3000:]}', flush=True)
        done += 1
        seed += 1
    print(f'{done} jobs of {PROGRAMS_OF_A_JOB} programs, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
