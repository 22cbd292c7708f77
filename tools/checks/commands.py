"""Commands of ./check: their output goes into a log, progress is shown, and what is silent for too long is ended."""
import os
import re
import subprocess
import time

import children

from .plan import ROOT

HEARTBEAT = 20  # seconds between signs of life
# Seconds without output after which a configure or build is ended, and a run of tests: tools/limited ends each test much earlier.
SILENCE_LIMIT = 2400


def say(text=''):
    print(text, flush=True)


def minutes(seconds):
    return f'{int(seconds) // 60}m{int(seconds) % 60:02d}s' if seconds >= 60 else f'{seconds:.0f}s'


def last_progress(log):
    """The last progress that ninja or meson printed, as in 12/80."""
    with open(log, 'rb') as f:
        f.seek(max(0, log.stat().st_size - 4000))
        found = re.findall(r'(?:^|\n|\r)\[?\s*(\d+/\d+)[\] ]', f.read().decode(errors='replace'))
    return found[-1] if found else ''


class Silence:
    """Measures for how long nothing has been added to a log."""

    def __init__(self, now):
        self.size = 0
        self.since = now

    def seconds(self, size, now):
        if size != self.size:
            self.size, self.since = size, now
        return now - self.since


def say_progress(phase, log, seconds):
    say(' '.join(['      ...', phase, *filter(None, [last_progress(log)]), f'({minutes(seconds)})']))


def run(command, log, phase, environment=None, silence_limit=SILENCE_LIMIT, heartbeat=HEARTBEAT, progress=say_progress):
    """Runs a command with its output in a log, and shows progress. Returns its exit status; None if it was silent for too long."""
    with open(log, 'ab') as out:
        out.write(f'\n$ {" ".join(command)}\n'.encode())
        out.flush()
        start = time.monotonic()
        silence = Silence(start)
        with children.started(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT,
                              env={**os.environ, **(environment or {})}) as process:
            while True:
                try:
                    return process.wait(timeout=heartbeat)
                except subprocess.TimeoutExpired:
                    now = time.monotonic()
                    if silence.seconds(os.fstat(out.fileno()).st_size, now) > silence_limit:
                        out.write(f'\ncheck: ended after {minutes(silence_limit)} without output\n'.encode())
                        return None
                    progress(phase, log, now - start)


def failure_of(phase, status):
    """The report of a failed phase."""
    return f'{phase} was silent for {minutes(SILENCE_LIMIT)} and was ended' if status is None else f'{phase} failed'


def last_line(log):
    lines = [line for line in log.read_text(errors='replace').splitlines() if line.strip()]
    return lines[-1].strip() if lines else ''
