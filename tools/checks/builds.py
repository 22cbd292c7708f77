"""The build directories of ./check, made ahead of the tests and beside them."""
import json
import os
import shutil
import threading
import time

from .commands import HEARTBEAT, failure_of, last_line, run, say_progress
from .counts import Count
from .plan import CONFIGS, ROOT

BUILD = ROOT / 'build'
# Taken out of the environment: the runtime would report a FULT_* variable that it does not know in each test.
JOBS = os.environ.pop('FULT_CHECK_JOBS', '') or str(len(os.sched_getaffinity(0)))


def lacks(config, log, progress):
    """Why a build directory cannot be made here; empty if it can. None: it should be possible, but failed."""
    for program in config.programs:
        if not shutil.which(program):
            return f'no {program} here; tools/setup full installs it'
    if not config.first:
        return ''
    status = run(config.first, log, 'preparing', progress=progress)
    return '' if status == 0 else last_line(log) if status == 77 else None


def configure(name, log, progress):
    """Sets up a build directory if necessary. Returns the exit status."""
    directory = BUILD / name
    config = CONFIGS[name]
    arguments = ['-Dwerror=true', '-Dtests=enabled', *config.arguments]
    if 'sanitize' in ' '.join(arguments):
        arguments.append('-Db_lundef=false')
    stamp = directory / 'check-arguments'
    wanted = json.dumps([arguments, config.compiler])
    if (directory / 'build.ninja').exists() and stamp.exists() and stamp.read_text() == wanted:
        return 0  # ninja configures again by itself when a meson.build has changed
    if directory.exists():
        shutil.rmtree(directory)
    status = run(['meson', 'setup', str(directory), *arguments], log, 'configuring', config.compiler, progress=progress)
    if status == 0:
        stamp.write_text(wanted)
    return status


def targets_of(steps):
    """What ninja makes for the steps, an empty list for everything; None if they need nothing."""
    building = [step for step in steps if step.build]
    if not building:
        return None
    return [] if any(not step.targets for step in building) else sorted({t for step in building for t in step.targets})


def make(run_, log, progress):
    """Makes the build directory of a run. Returns the failures; an empty count if it is ready."""
    count = Count()
    config, name = run_.config, run_.steps[0].name
    targets = targets_of(run_.steps)
    reason = lacks(CONFIGS[config], log, progress)
    if reason:
        count.skip(reason)
    elif reason is None:
        count.fail(f'{name}: {" ".join(CONFIGS[config].first)} failed')
    elif (status := configure(config, log, progress)) != 0:
        count.fail(f'{name}: {failure_of("configuring", status)}')
    elif targets is not None:
        command = ['ninja', '-k', '0', '-C', str(BUILD / config), '-j', JOBS, *targets]
        if (status := run(command, log, 'building', progress=progress)) != 0:
            count.fail(f'{name}: {failure_of("the build", status)}')
    return count


class Builds:
    """Makes the build directories of all runs in their order, beside the tests and ahead of them: tests often wait.

    Where tests are to run alone, nothing is built any more: such a run is the last one.
    """

    def __init__(self, runs):
        self.runs = runs
        self.made = {}  # by the number of the run
        self.seconds = {}
        self.now = ('', None, 0)  # what is done, its log, for how long
        self.changed = threading.Condition()
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        for number, run_ in enumerate(self.runs):
            start = time.monotonic()
            try:
                count = make(run_, run_.log, self.progress)
            except Exception as error:
                count = Count()
                count.fail(f'{run_.steps[0].name}: {run_.config} cannot be built: {error}')
            with self.changed:
                self.made[number] = count
                self.seconds[number] = time.monotonic() - start
                self.changed.notify_all()

    def progress(self, phase, log, seconds):
        self.now = (phase, log, seconds)

    def wait_for(self, number):
        """The failures of a run's build."""
        with self.changed:
            while number not in self.made:
                if not self.changed.wait(timeout=HEARTBEAT) and self.now[1]:
                    say_progress(*self.now)
            return self.made[number]
