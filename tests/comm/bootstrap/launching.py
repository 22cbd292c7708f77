"""Shared by the tests of launchers: cases, and a search for processes that a job has left behind.

No wait has a time limit: what never happens is found by the runner of the tests, as a test without output.

Each test has the option --part=K/N: the K-th case of each N.
"""
import os
import subprocess
import sys
import time
import traceback
import uuid

# Ranks need not come, nor show life, within any time, unless a test sets other limits: these are the largest.
PATIENT = {'FULT_COMM_TIMEOUT': '86400', 'FULT_COMM_HEARTBEAT': '3600'}
# Ranks of this host that send as between hosts, over the loopback interface.
NETWORK = {'FULT_COMM_SAME_HOST': 'none', 'FULT_COMM_INTERFACE': '127.0.0.1'}


def take_option(name, default=None):
    """Removes --NAME or --NAME=VALUE from the command line; its value, True, or the default."""
    for word in sys.argv[1:]:
        key, _, value = word.partition('=')
        if key == f'--{name}':
            sys.argv.remove(word)
            return value or True
    return default


PART, PARTS = map(int, take_option('part', '1/1').split('/'))


class Skipped(Exception):
    """The case cannot run here, and why."""


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


class Job:
    """A command with a mark in its environment, which all its child processes inherit."""

    def __init__(self, command, **more):
        self.mark = uuid.uuid4().hex
        environment = {**os.environ, **PATIENT, **more.pop('env', {}), 'LAUNCHING_TEST_MARK': self.mark}
        self.process = subprocess.Popen([str(c) for c in command], text=True, env=environment,
                                        **{'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE,
                                           'stderr': subprocess.PIPE, **more})

    def finish(self, text=None):
        """Status, output, errors."""
        out, err = self.process.communicate(text)
        return self.process.returncode, out, err

    def left(self):
        """The processes that still carry the mark, fult-run itself aside."""
        mark = f'LAUNCHING_TEST_MARK={self.mark}'.encode()
        found = []
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{pid}/environ', 'rb') as file:
                    if mark in file.read().split(b'\0') and int(pid) != self.process.pid:
                        found.append(int(pid))
            except OSError:
                pass  # it has just ended, or is not ours
        return found


def until(condition, what):
    """Polls the condition; `what` is for the reader."""
    while not condition():
        time.sleep(0.005)  # time: between polls


def run(command, text=None, env=None, at_once=True, **more):
    """Runs a job. Then no process may be left; without at_once, after a short time."""
    if text is not None:
        more['stdin'] = subprocess.PIPE
    job = Job(command, env=env or {}, **more)
    result = job.finish(text)
    if not at_once:
        until(lambda: not job.left(), f'the end of all that {command} started')
    expect(not job.left(), f'{command}: left behind: {job.left()}')
    return result


def main(cases):
    """Runs those that the command line selects."""
    cases = cases[PART - 1::PARTS]
    print(f'1..{len(cases)}', flush=True)
    failed = 0
    for number, case in enumerate(cases, 1):
        name = case.__name__.replace('_', ' ')
        print(f'# {name}', flush=True)
        begin = time.monotonic()  # time: measured, not judged
        try:
            case()
            print(f'ok {number} - {name}', flush=True)
        except Skipped as why:
            print(f'ok {number} - {name} # SKIP {why}', flush=True)
        except Exception:
            failed += 1
            traceback.print_exc()
            print(f'not ok {number} - {name}', flush=True)
        print(f'# {time.monotonic() - begin:.1f} s', flush=True)  # time: measured, not judged
    return 1 if failed else 0


def cases_of(module):
    """The functions of a module in the order of their definition, without helpers."""
    own = [f for f in vars(sys.modules[module]).values() if callable(f) and getattr(f, '__module__', '') == module]
    return [f for f in own if f.__doc__]
