#!/usr/bin/env python3
"""Random programs of ranks against an oracle; README.md describes them.

usage: random_test.py FULT_RUN PROGRAM [--seed N] [--count N] [--seconds N] [--ranks N] [--transport NAMES]
                      [--faults LIST] [--only KIND] [--threads 0|1] [--workers N] [--limit SECONDS]
                      [--heartbeat SECONDS] [--keep-on]

Prints the options that repeat each program before it runs. Without --seed, the clock provides one. With --limit 0
nothing depends on time: no rank counts as hanging or silent, so none is killed over a network, where only silence
shows it.
"""
import os
import random
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bootstrap'))
from launching import NETWORK, Job  # noqa: E402
from seeds import parser_of_seeds, run_all  # noqa: E402

TRANSPORTS = {
    'shared': {},
    'net': {**NETWORK, 'FULT_COMM_NETWORK': 'net'},
    'tcp': {**NETWORK, 'FULT_COMM_NETWORK': 'tcp;ofi_rxm'},
    'loopback': {},
}
FAULTS = ['kill', 'stop', 'slow', 'scarce', 'fds', 'silent']


def arguments():
    parser = parser_of_seeds()
    parser.add_argument('--ranks', type=int)
    parser.add_argument('--transport', help='one, or some with commas: ' + ', '.join(TRANSPORTS))
    parser.add_argument('--faults', help='some with commas, or none: ' + ', '.join(FAULTS))
    parser.add_argument('--only', default='', help='one kind of act')
    parser.add_argument('--threads', default='1')
    parser.add_argument('--workers')
    parser.add_argument('--limit', type=int, default=60, help='seconds without a step that count as a hang; 0: none do')
    parser.add_argument('--heartbeat', default='10', help='seconds of silence after which a rank counts as dead')
    return parser.parse_args()


class Program:
    """One program: drawn from the seed, except for what the command line sets."""

    def __init__(self, given, seed):
        choice = random.Random(seed)
        self.seed = seed
        self.transport = choice.choice((given.transport or ','.join(TRANSPORTS)).split(','))
        self.ranks = given.ranks or choice.choice([1, 2, 2, 3, 3, 4, 5, 6])
        likely = {'kill': 0.25, 'stop': 0.15, 'slow': 0.3, 'scarce': 0.2, 'fds': 0.1, 'silent': 0.1}
        drawn = [f for f in FAULTS if choice.random() < likely[f]]
        self.faults = [f for f in (given.faults.split(',') if given.faults else drawn) if f != 'none']
        if self.transport == 'loopback':  # its ranks are one process
            self.faults = [f for f in self.faults if f not in ('kill', 'stop', 'fds')]
        if self.transport in ('shared', 'loopback'):  # ranks of a host fail when their processes end
            self.faults = [f for f in self.faults if f != 'silent']
        elif 'silent' in self.faults:
            self.faults = [f for f in self.faults if f != 'kill']
        self.heartbeat = given.heartbeat
        self.server = choice.choice(['workers', 'workers', 'dedicated'])
        self.more = ['--threads', given.threads, '--limit', str(given.limit)]
        for name, value in (('--only', given.only), ('--workers', given.workers)):
            if value:
                self.more += [name, value]
        self.patient = given.limit == 0
        if self.patient and self.transport in ('net', 'tcp'):
            self.faults = [f for f in self.faults if f not in ('kill', 'silent')]
        self.bound = None if self.patient else 2 * given.limit + 90

    def __str__(self):
        return (f'--seed {self.seed} --ranks {self.ranks} --transport {self.transport} '
                f'--faults {",".join(self.faults) or "none"}')

    def command(self, fult_run, program):
        own = [program, '--seed', self.seed, '--ranks', self.ranks, '--faults', ','.join(self.faults) or 'none', *self.more]
        if self.transport == 'loopback':
            return [*own, '--loopback']
        return [fult_run, '-n', self.ranks, '--keep-going', *own] if self.loses() else [fult_run, '-n', self.ranks, *own]

    def environment(self):
        # On a busy machine a rank may not run for seconds; it must not count as dead.
        silence = {} if self.patient else {'FULT_COMM_HEARTBEAT': self.heartbeat if self.loses() else '60'}
        return {'FULT_DUMP_SIGNAL': 'USR2', 'FULT_COMM_SERVER': self.server, **silence, **TRANSPORTS[self.transport]}

    def loses(self):
        return self.ranks > 1 and ('kill' in self.faults or 'silent' in self.faults)

    def wrong(self, status, out, err):
        """The errors that the end of a job shows; empty if all is right."""
        if 'fds' in self.faults and (refused := re.findall(r'^random_ranks: (.*)', err, re.MULTILINE)):
            return self.wrong_refusal(status, out, err, refused)
        well = 1 if self.transport == 'loopback' else self.ranks - self.loses()
        if out.count('well') != well:
            return f'{out.count("well")} of {well} ranks ended well'
        if self.loses() and 'silent' in self.faults:  # it is killed, or finds first that the others have given it up
            return '' if status != 0 else 'status 0 though a rank was lost'
        wanted = 128 + signal.SIGKILL if self.loses() else 0
        return '' if status == wanted else f'status {status} instead of {wanted}'

    def wrong_refusal(self, status, out, err, refused):
        """Some ranks had too few descriptors to begin: they report it with the remedy, and no rank succeeds."""
        if status == 0 or 'well' in out or 'FAILED:' in err or 'HANGS:' in err:
            return f'status {status} where descriptors were refused'
        if self.loses():  # all ranks go on until they notice
            return '' if any('ulimit -n' in text for text in refused) else f'no remedy in {refused}'
        # The one whose descriptors were refused may have been ended while it removed its files.
        known = ('ulimit -n', 'has a rank of this host failed', 'has that rank failed', 'has ended with status 1',
                 'has ended or cannot be reached', 'has left the job')
        unclear = [text for text in refused if not any(each in text for each in known)]
        return f'no cause and no remedy in {unclear}' if unclear else ''


def end(job):
    """Every process of a job that has not ended, and its output."""
    job.process.send_signal(signal.SIGUSR2)  # fult-run passes it on: all ranks report their tasks
    try:
        return job.process.communicate(timeout=10)  # time: given, never reached
    except subprocess.TimeoutExpired:
        pass
    for pid in job.left() + [job.process.pid]:
        os.kill(pid, signal.SIGKILL)
    return job.process.communicate()


def attempt(given, program):
    """Runs it; what is wrong, and its errors."""
    job = Job(program.command(given.fult_run, given.program), env=program.environment())
    try:
        out, err = job.process.communicate(timeout=program.bound)  # time: given, never reached
        wrong = program.wrong(job.process.returncode, out, err)
    except subprocess.TimeoutExpired:
        out, err = end(job)
        wrong = f'not ended after {program.bound} s'
    left = job.left()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return wrong or (f'left behind: {left}' if left else ''), err


def main():
    given = arguments()
    return run_all(given, lambda seed: Program(given, seed), lambda program: attempt(given, program))


sys.exit(main())
