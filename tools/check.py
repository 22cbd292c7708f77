"""The steps of ./check: configure, build and test in several ways, count, and report. See ./check --help."""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

import children
from aslr import without_aslr

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / 'build'
LOGS = BUILD / 'check-logs'
JOBS = os.environ.get('FULT_CHECK_JOBS') or str(len(os.sched_getaffinity(0)))
TESTS_AT_ONCE = str(int(JOBS) + 1)  # many spend their time waiting
HEARTBEAT = 20  # seconds between signs of life
# Seconds without output after which a configure, build or test run is ended; its total time is not limited. A test prints nothing
# before its end, so this is more than the limit of any test (see the meson.build files).
SILENCE_LIMIT = 2400
# The description of each step, in order, one per line. ./check reads the file, too, before Python is installed.
WHAT = dict(line.split(None, 1) for line in (ROOT / 'tools' / 'check_steps.txt').read_text().splitlines())

GCC = {'CC': 'gcc', 'CXX': 'g++'}
CLANG = {'CC': 'clang-14', 'CXX': 'clang++-14'}
# Suites with steps of their own.
SEPARATE = ['model', 'soak', 'layout', 'install', 'tidy', 'docs']


@dataclass
class Config:
    """A build directory, the programs it needs, and a command that provides more (exit status 77: not possible here)."""
    arguments: list
    compiler: dict = field(default_factory=lambda: GCC)
    programs: list = field(default_factory=list)
    first: list = field(default_factory=list)


@dataclass
class Step:
    """A set of tests in one or more build directories; without `suites`, all tests that have no step of their own."""
    name: str
    config: str | list
    suites: list = field(default_factory=list)
    build: bool = True
    setup: str = ''
    targets: list = field(default_factory=list)  # of ninja; all if empty
    without: list = field(default_factory=list)  # suites that are left out
    what: str = ''

    def __post_init__(self):
        self.what = self.what or WHAT[self.name].strip()

    def configs(self):
        return [self.config] if isinstance(self.config, str) else self.config


CHECKED = ['-Doptimization=1', '-Ddebug=false', '-Dcpp_args=-g1', '-Dc_args=-g1', '-Db_ndebug=false', '-Dbenchmarks=disabled']
HARDENED = '-D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection'
if os.uname().machine == 'x86_64':
    HARDENED += ' -fcf-protection'
CONFIGS = {
    'gcc': Config(['-Dbuildtype=release', '-Ddocs=enabled']),
    'clang': Config(['-Dbuildtype=release', '-Dbenchmarks=disabled', '-Dtidy=enabled'], CLANG),
    # Compiling takes longest; with -O1 and only line tables it takes less than half.
    'asan': Config([*CHECKED, '-Db_sanitize=address,undefined']),
    'tsan': Config([*CHECKED, '-Db_sanitize=thread']),
    # The flags of CHECKED would replace those of the cross file.
    'aarch64': Config(['--cross-file=build/arm64-root/root.txt', '--cross-file=tools/cross/aarch64.txt', '-Doptimization=1',
                       '-Ddebug=false', '-Db_ndebug=false', '-Dbenchmarks=disabled', '-Dcomm=disabled', '-Domp=disabled'], {},
                      ['aarch64-linux-gnu-g++', 'qemu-aarch64-static'], ['tools/cross/sysroot', 'arm64']),
    # The step gcc has -O3. Without precompiled headers each file must include what it uses.
    'O0': Config(['-Dbuildtype=plain', '-Doptimization=0', '-Db_pch=false', '-Db_ndebug=false', '-Dbenchmarks=disabled']),
    'lto': Config(['-Dbuildtype=plain', '-Doptimization=2', '-Db_lto=true', '-Db_ndebug=true', '-Dbenchmarks=disabled',
                   '-Domp=disabled']),
    # Valgrind's tests use it, too: they need a build without sanitizers.
    'hardened': Config(['-Dbuildtype=plain', '-Doptimization=2', '-Db_ndebug=false', '-Db_pie=true', '-Dbenchmarks=disabled',
                        '-Dvalgrind=enabled', '-Domp=disabled',
                        f'-Dc_args={HARDENED}', f'-Dcpp_args={HARDENED} -D_GLIBCXX_ASSERTIONS',
                        '-Dc_link_args=-Wl,-z,relro,-z,now', '-Dcpp_link_args=-Wl,-z,relro,-z,now']),
}

STEPS = [
    Step('gcc', 'gcc'),
    Step('clang', 'clang', ['unit', 'regression', 'fuzz'],
         targets=['libraries', 'unit-tests', 'load-tests', 'fuzz-programs']),
    Step('asan', 'asan'),
    Step('tsan', 'tsan'),
    Step('valgrind', 'hardened', ['unit'], setup='valgrind', targets=['unit-tests'], without=['scheduling']),
    # OpenMP is in O0 alone: its programs meet assertions there.
    Step('variants', ['O0', 'lto', 'hardened'], ['sample', 'omp'], targets=['libraries', 'sample-tests']),
    Step('aarch64', 'aarch64', ['core'], setup='emulated', targets=['core-tests']),
    Step('models', 'gcc', ['model'], build=False),
    Step('soak', 'gcc', ['soak'], build=False),
    Step('layout', 'gcc', ['layout'], build=False),
    Step('install', 'gcc', ['install']),
    Step('docs', 'gcc', ['docs'], build=False),
    Step('tidy', 'clang', ['tidy'], build=False),
]
QUICK = [Step('gcc', 'gcc', ['unit', 'regression'], what='g++, warnings are errors, unit and regression tests'),
         next(s for s in STEPS if s.name == 'layout')]


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
    say(f'      ... {phase} {last_progress(log)} ({minutes(seconds)})')


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


def lacks(config, log, progress):
    """Why a build directory cannot be made here; empty if it can. None: it should be possible, but failed."""
    for program in config.programs:
        if not shutil.which(program):
            return f'no {program} here; tools/setup check installs it'
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
    status = run(['meson', 'setup', str(directory), *arguments], log, 'configuring', config.compiler,
                 progress=progress)
    if status == 0:
        stamp.write_text(wanted)
    return status


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)
    skips: list = field(default_factory=list)

    def fail(self, what):
        self.failed += 1
        self.failures.append(what)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures
        self.skips += other.skips


def count_results(base, count):
    """Adds up the results of a run of meson test: its log has one JSON object per test, the JUnit file the GoogleTest cases."""
    cases = {}  # "fult.<test>.<GoogleTest suite>", for TAP "fult.<test>" -> [(name, 'passed' | 'failed' | 'skipped')]
    junit = base.with_name(base.name + '.junit.xml')
    if junit.exists():
        for suite in ET.parse(junit).getroot().iter('testsuite'):
            for case in suite.iter('testcase'):
                tags = {child.tag for child in case}
                result = 'failed' if tags & {'failure', 'error'} else 'skipped' if 'skipped' in tags else 'passed'
                cases.setdefault(suite.get('name'), []).append((case.get('name'), result))
    lines = base.with_name(base.name + '.json').read_text().splitlines()
    for test in map(json.loads, lines):
        name, result = test['name'], test['result']
        failed = result not in ('OK', 'EXPECTEDFAIL', 'SKIP')
        owner = f'fult.{name}'
        inner = [(suite[len(owner) + 1:] or 'case', *case) for suite, found in cases.items()
                 if suite == owner or suite.startswith(owner + '.') for case in found]
        for suite, case, verdict in inner:
            if verdict == 'passed':
                count.passed += 1
            elif verdict == 'skipped':
                count.skipped += 1
                count.skips.append(f'{name}: {suite}.{case}')
            else:
                count.fail(f'{name}: {suite}.{case}')
        if failed and not any(verdict == 'failed' for _, _, verdict in inner):
            # It crashed, hung, or a sanitizer reported an error after the last case.
            count.fail(f'{name}: {result.lower()}, exit status {test["returncode"]}')
        elif not inner and result == 'SKIP':
            count.skipped += 1
            count.skips.append(name)
        elif not inner and not failed:
            count.passed += 1


def test(step, config, log, count):
    directory = BUILD / config
    base = directory / 'meson-logs' / (f'check-{step.name}' + (f'-{step.setup}' if step.setup else ''))
    for old in base.parent.glob(f'check-{step.name}*'):
        old.unlink()
    command = ['meson', 'test', '-C', str(directory), '--no-rebuild', '--print-errorlogs', '--num-processes', TESTS_AT_ONCE,
               '--logbase', f'check-{step.name}']
    if step.setup:
        command += ['--setup', step.setup]
    for suite in step.suites:
        command += ['--suite', suite]
    for suite in step.without if step.suites else SEPARATE:
        command += ['--no-suite', suite]
    if config == 'tsan':
        command = without_aslr() + command
    status = run(command, log, 'testing')
    before = count.failed
    try:
        count_results(base, count)
    except (OSError, ValueError, ET.ParseError) as error:
        count.fail(f'{step.name}: no results: {error}')
    if status is None or (status != 0 and count.failed == before):
        count.fail(f'{step.name}: {failure_of("meson test", status)}')
    if count.passed + count.failed == 0:
        count.fail(f'{step.name}: no test ran' + (', all were skipped' if count.skipped else ''))


def build(step, config, log, progress):
    return run(['nice', '-n', '19', 'ninja', '-k', '0', '-C', str(BUILD / config), '-j', JOBS, *step.targets], log, 'building',
               progress=progress)


def make(step, config, log, progress):
    """Makes a build directory. Returns the failures; an empty count if it is ready."""
    count = Count()
    reason = lacks(CONFIGS[config], log, progress)
    if reason:
        count.skipped += 1
        count.skips.append(reason)
    elif reason is None:
        count.fail(f'{step.name}: {" ".join(CONFIGS[config].first)} failed')
    elif (status := configure(config, log, progress)) != 0:
        count.fail(f'{step.name}: {failure_of("configuring", status)}')
    elif step.build and (status := build(step, config, log, progress)) != 0:
        count.fail(f'{step.name}: {failure_of("the build", status)}')
    return count


class Builds:
    """Makes the build directories of all steps in their order, beside the tests and ahead of them: tests often wait.

    Compilers have the lowest priority, and take what processor time the tests leave.
    """

    def __init__(self, steps):
        self.wanted = [(step, config) for step in steps for config in step.configs()]
        self.made = {}
        self.seconds = {}
        self.now = ('', None, 0)  # what is done, its log, for how long
        self.changed = threading.Condition()
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        for step, config in self.wanted:
            start = time.monotonic()
            try:
                count = make(step, config, log_of(step), self.progress)
            except Exception as error:
                count = Count()
                count.fail(f'{step.name}: {config} cannot be built: {error}')
            with self.changed:
                self.made[step.name, config] = count
                self.seconds[step.name] = self.seconds.get(step.name, 0) + time.monotonic() - start
                self.changed.notify_all()

    def progress(self, phase, log, seconds):
        self.now = (phase, log, seconds)

    def wait_for(self, step, config):
        with self.changed:
            while (step.name, config) not in self.made:
                if not self.changed.wait(timeout=HEARTBEAT) and self.now[1]:
                    say_progress(*self.now)
            return self.made[step.name, config]


def log_of(step):
    return LOGS / f'{step.name}.log'


def run_step(step, made):
    """Tests in the step's build directories; `made` has a count for each."""
    count = Count()
    for config, part in zip(step.configs(), made):
        if part.failed + part.skipped == 0:
            test(step, config, log_of(step), part)
        if len(step.configs()) > 1:
            part.failures = [f'{config}: {what}' for what in part.failures]
            part.skips = [f'{config}: {what}' for what in part.skips]
        count.add(part)
    return count


def excerpt(log, most=50):
    """The lines of a log that show the failure: from the first failure on, or else the last ones."""
    lines = log.read_text(errors='replace').splitlines() if log.exists() else []
    for number, line in enumerate(lines):
        if re.match(r'FAILED: |\S*ERROR: |.*: ERROR: |\s*\d+/\d+ .* (FAIL|ERROR|TIMEOUT) ', line):
            return lines[number:number + most]
    return lines[-most:]


def report(step, count, seconds):
    verdict = 'ok  ' if count.failed == 0 else 'FAIL'
    skipped = f', {count.skipped} skipped' if count.skipped else ''
    say(f'      {verdict}  {step.name}: {count.passed} passed, {count.failed} failed{skipped} ({minutes(seconds)})')
    if count.failed:
        for name in count.failures:
            say(f'        failed:  {name}')
        log = LOGS / f'{step.name}.log'
        say(f'        from {log.relative_to(ROOT)}:')
        for line in excerpt(log):
            say(f'        | {line[:300]}')
    for name in count.skips:
        say(f'        skipped: {name}')


def summary(results):
    """A table of (step, count, seconds of its build, seconds of its tests). Builds go on beside the tests of earlier steps."""
    width = max(len(step.name) for step, *_ in results)
    yield f'{"step":{width}}  {"passed":>6}  {"failed":>6}  {"skipped":>7}  {"build":>8}  {"tests":>8}'
    for step, count, built, tested in results:
        yield (f'{step.name:{width}}  {count.passed:6}  {count.failed:6}  {count.skipped:7}  {minutes(built):>8}  '
               f'{minutes(tested):>8}')


def run_steps(steps):
    """Runs and reports them; the sum of their counts."""
    results = []
    begin = time.monotonic()
    for step in steps:
        log_of(step).unlink(missing_ok=True)
    builds = Builds(steps)
    for number, step in enumerate(steps, 1):
        say(f'[{number}/{len(steps)}] {step.name}: {step.what}')
        made = [builds.wait_for(step, config) for config in step.configs()]
        start = time.monotonic()
        count = run_step(step, made)
        seconds = time.monotonic() - start
        report(step, count, seconds)
        results.append((step, count, builds.seconds[step.name], seconds))
    say()
    for line in summary(results):
        say(line)
    say(f'\n{len(steps)} step{"s" * (len(steps) > 1)} in {minutes(time.monotonic() - begin)}; logs in build/check-logs/')
    total = Count()
    for _, count, *_ in results:
        total.add(count)
    return total


def step_name(text):
    if text not in WHAT:
        raise argparse.ArgumentTypeError(f"there is no step '{text}'; the steps are {' '.join(WHAT)}")
    return text


def main():
    parser = argparse.ArgumentParser(prog='check', add_help=False, allow_abbrev=False)
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('steps', nargs='*', metavar='STEP', type=step_name)
    options = parser.parse_args()
    # When ended by a signal, end the running command, too: an exception runs the `finally` of run.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit('check: ended by a signal'))
    LOGS.mkdir(parents=True, exist_ok=True)
    total = run_steps(QUICK if options.quick else [s for s in STEPS if not options.steps or s.name in options.steps])
    say(f'{total.passed} passed, {total.failed} failed')
    return 0 if total.failed == 0 and total.passed > 0 else 1


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(say('check: interrupted') or 128 + signal.SIGINT)
