"""The steps of ./check: configure, build and test in several ways, count, and report. See ./check --help."""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / 'build'
LOGS = BUILD / 'check-logs'
JOBS = os.environ.get('FULT_CHECK_JOBS') or str(len(os.sched_getaffinity(0)))
HEARTBEAT = 20  # seconds between signs of life
PHASE_LIMIT = 1200  # seconds for one configure, build or test run; each test has its own limit besides

GCC = {'CC': 'gcc', 'CXX': 'g++'}
CLANG = {'CC': 'clang-14', 'CXX': 'clang++-14'}
# Suites with steps of their own.
SEPARATE = ['model', 'soak', 'layout', 'install', 'tidy', 'docs']


@dataclass
class Config:
    """A build directory. What it cannot be made without: programs, and a command that brings more (exit status 77: it cannot)."""
    arguments: list
    compiler: dict = field(default_factory=lambda: GCC)
    programs: list = field(default_factory=list)
    first: list = field(default_factory=list)


@dataclass
class Step:
    """A set of tests in a build directory, or in several; without `suites`, all that have no step of their own."""
    name: str
    config: str | list
    what: str
    suites: list = field(default_factory=list)
    build: bool = True
    setup: str = ''
    targets: list = field(default_factory=list)  # of ninja; all if none

    def configs(self):
        return [self.config] if isinstance(self.config, str) else self.config


CHECKED = ['-Doptimization=1', '-Ddebug=false', '-Dcpp_args=-g1', '-Dc_args=-g1', '-Db_ndebug=false', '-Dbenchmarks=disabled']
HARDENED = '-D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection'
if os.uname().machine == 'x86_64':
    HARDENED += ' -fcf-protection'
CONFIGS = {
    'gcc': Config(['-Dbuildtype=release', '-Ddocs=enabled']),
    'clang': Config(['-Dbuildtype=release', '-Dtidy=enabled'], CLANG),
    # Compiling takes longest: with -O1 and line tables alone it takes less than half.
    'asan': Config([*CHECKED, '-Db_sanitize=address,undefined']),
    'tsan': Config([*CHECKED, '-Db_sanitize=thread']),
    'valgrind': Config([*CHECKED, '-Dvalgrind=enabled']),
    # The flags of CHECKED would replace those of the cross file.
    'aarch64': Config(['--cross-file=build/arm64-root/root.txt', '--cross-file=tools/cross/aarch64.txt', '-Doptimization=1',
                       '-Ddebug=false', '-Db_ndebug=false', '-Dbenchmarks=disabled', '-Dcomm=disabled'], {},
                      ['aarch64-linux-gnu-g++', 'qemu-aarch64-static'], ['tools/cross/sysroot', 'arm64']),
    # The step gcc has -O3.
    'O0': Config(['-Dbuildtype=plain', '-Doptimization=0', '-Db_ndebug=false', '-Dbenchmarks=disabled']),
    'lto': Config(['-Dbuildtype=plain', '-Doptimization=2', '-Db_lto=true', '-Db_ndebug=true', '-Dbenchmarks=disabled']),
    'hardened': Config(['-Dbuildtype=plain', '-Doptimization=2', '-Db_ndebug=false', '-Db_pie=true', '-Dbenchmarks=disabled',
                        f'-Dc_args={HARDENED}', f'-Dcpp_args={HARDENED} -D_GLIBCXX_ASSERTIONS',
                        '-Dc_link_args=-Wl,-z,relro,-z,now', '-Dcpp_link_args=-Wl,-z,relro,-z,now']),
}

STEPS = [
    Step('gcc', 'gcc', 'g++, warnings are errors, all tests'),
    Step('clang', 'clang', 'clang++, warnings are errors, unit and regression tests', ['unit', 'regression']),
    Step('asan', 'asan', 'AddressSanitizer and UndefinedBehaviorSanitizer, all tests'),
    Step('tsan', 'tsan', 'ThreadSanitizer, all tests'),
    Step('valgrind', 'valgrind', 'unit tests under Valgrind', ['unit'], setup='valgrind', targets=['unit-tests']),
    Step('variants', ['O0', 'lto', 'hardened'], '-O0, link-time optimization, hardened; a sample of the tests', ['sample'],
         targets=['libraries', 'sample-tests']),
    Step('aarch64', 'aarch64', 'cross-built for aarch64, tests of the core under an emulator', ['core'], setup='emulated',
         targets=['core-tests']),
    Step('models', 'gcc', 'Promela models, exhaustively', ['model'], build=False),
    Step('soak', 'gcc', 'three minutes of everything at once: memory stays what it was', ['soak'], build=False),
    Step('layout', 'gcc', 'include direction, headers alone, nothing forgotten, formatting', ['layout'], build=False),
    Step('install', 'gcc', 'installed, and used by outside programs', ['install']),
    Step('docs', 'gcc', 'API reference without warnings', ['docs'], build=False),
    Step('tidy', 'clang', 'clang-tidy over the library', ['tidy'], build=False),
]
QUICK = [Step('gcc', 'gcc', 'g++, warnings are errors, unit and regression tests', ['unit', 'regression']),
         next(s for s in STEPS if s.name == 'layout')]


def say(text=''):
    print(text, flush=True)


def minutes(seconds):
    return f'{int(seconds) // 60}m{int(seconds) % 60:02d}s' if seconds >= 60 else f'{seconds:.0f}s'


def last_progress(log):
    """What ninja or meson last counted, as in 12/80."""
    with open(log, 'rb') as f:
        f.seek(max(0, log.stat().st_size - 4000))
        found = re.findall(r'(?:^|\n|\r)\[?\s*(\d+/\d+)[\] ]', f.read().decode(errors='replace'))
    return found[-1] if found else ''


def run(command, log, phase, environment=None):
    """Runs a command with its output in a log, tells of progress; whether it succeeded. None: it ran out of time."""
    with open(log, 'ab') as out:
        out.write(f'\n$ {" ".join(command)}\n'.encode())
        out.flush()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT,
                                   env={**os.environ, **(environment or {})}, start_new_session=True)
        start = time.monotonic()
        try:
            while True:
                try:
                    return process.wait(timeout=HEARTBEAT) == 0
                except subprocess.TimeoutExpired:
                    passed = time.monotonic() - start
                    if passed > PHASE_LIMIT:
                        out.write(f'\ncheck: ended after {PHASE_LIMIT} s\n'.encode())
                        return None
                    say(f'      ... {phase} {last_progress(log)} ({minutes(passed)})')
        finally:
            if process.poll() is None:  # also when the user interrupts
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def lacks(config, log):
    """Why a build directory cannot be made here; nothing where it can. None: it should be possible, but failed."""
    for program in config.programs:
        if not shutil.which(program):
            return f'no {program} here; tools/setup check installs it'
    if not config.first:
        return ''
    result = subprocess.run(config.first, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PHASE_LIMIT)
    with open(log, 'a', encoding='utf-8') as out:
        out.write(f'\n$ {" ".join(config.first)}\n{result.stdout}{result.stderr}')
    return '' if result.returncode == 0 else result.stderr.strip() if result.returncode == 77 else None


def configure(name, log):
    directory = BUILD / name
    config = CONFIGS[name]
    arguments = ['-Dwerror=true', '-Dtests=enabled', *config.arguments]
    if 'sanitize' in ' '.join(arguments):
        arguments.append('-Db_lundef=false')
    stamp = directory / 'check-arguments'
    wanted = json.dumps([arguments, config.compiler])
    if (directory / 'build.ninja').exists() and stamp.exists() and stamp.read_text() == wanted:
        return True  # ninja configures again by itself when a meson.build has changed
    if directory.exists():
        shutil.rmtree(directory)
    if not run(['meson', 'setup', str(directory), *arguments], log, 'configuring', config.compiler):
        return False
    stamp.write_text(wanted)
    return True


def without_aslr():
    """ThreadSanitizer of these compilers does not know the address layouts of kernels that randomise 32 bits."""
    command = ['setarch', os.uname().machine, '-R']
    try:
        return command if subprocess.run(command + ['true'], capture_output=True).returncode == 0 else []
    except FileNotFoundError:
        return []


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
    """Adds up what a run of meson test left: its log, one JSON object a test, and in JUnit's format the GoogleTest cases."""
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
            # It crashed, hung, or a sanitizer spoke after the last case.
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
    command = ['meson', 'test', '-C', str(directory), '--no-rebuild', '--print-errorlogs', '--num-processes', JOBS,
               '--logbase', f'check-{step.name}']
    if step.setup:
        command += ['--setup', step.setup]
    for suite in step.suites:
        command += ['--suite', suite]
    if not step.suites:
        for suite in SEPARATE:
            command += ['--no-suite', suite]
    if config == 'tsan':
        command = without_aslr() + command
    succeeded = run(command, log, 'testing')
    before = count.failed
    try:
        count_results(base, count)
    except (OSError, ValueError, ET.ParseError) as error:
        count.fail(f'{step.name}: no results: {error}')
    if succeeded is None:
        count.fail(f'{step.name}: the tests ran out of time')
    elif not succeeded and count.failed == before:
        count.fail(f'{step.name}: meson test failed')
    if count.passed + count.failed == 0:
        count.fail(f'{step.name}: no test ran' + (', all were skipped' if count.skipped else ''))


def run_config(step, config, log):
    count = Count()
    reason = lacks(CONFIGS[config], log)
    if reason:
        count.skipped += 1
        count.skips.append(reason)
    elif reason is None:
        count.fail(f'{step.name}: {" ".join(CONFIGS[config].first)} failed')
    elif not configure(config, log):
        count.fail(f'{step.name}: configuring failed')
    elif step.build and not run(['ninja', '-k', '0', '-C', str(BUILD / config), '-j', JOBS, *step.targets], log, 'building'):
        count.fail(f'{step.name}: the build failed')
    else:
        test(step, config, log, count)
    return count


def run_step(step):
    log = LOGS / f'{step.name}.log'
    log.unlink(missing_ok=True)
    count = Count()
    for config in step.configs():
        part = run_config(step, config, log)
        if len(step.configs()) > 1:
            part.failures = [f'{config}: {what}' for what in part.failures]
            part.skips = [f'{config}: {what}' for what in part.skips]
        count.add(part)
    return count


def excerpt(log, most=50):
    """The lines of a log that tell what failed: from the first failure on, or else the last ones."""
    lines = log.read_text(errors='replace').splitlines() if log.exists() else []
    for number, line in enumerate(lines):
        if re.match(r'FAILED: |\S*ERROR: |.*: ERROR: |\s*\d+/\d+ .* (FAIL|ERROR|TIMEOUT) ', line):
            return lines[number:number + most]
    return lines[-most:]


def report(step, count, seconds):
    verdict = 'ok  ' if count.failed == 0 else 'FAIL'
    skipped = f', {count.skipped} skipped' if count.skipped else ''
    say(f'      {verdict}  {step.name}: {count.passed} passed, {count.failed} failed{skipped} ({minutes(seconds)})')
    for name in count.skips:
        say(f'        skipped: {name}')
    if count.failed:
        for name in count.failures:
            say(f'        failed:  {name}')
        log = LOGS / f'{step.name}.log'
        say(f'        from {log.relative_to(ROOT)}:')
        for line in excerpt(log):
            say(f'        | {line[:300]}')


def main():
    parser = argparse.ArgumentParser(prog='check', add_help=False)
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('steps', nargs='*', metavar='STEP')
    options = parser.parse_args()
    names = [s.name for s in STEPS]
    if options.list:
        for step in STEPS:
            say(f'{step.name:10} {step.what}')
        return 0
    for name in options.steps:
        if name not in names:
            sys.exit(f"check: there is no step '{name}'; the steps are {' '.join(names)}")
    steps = QUICK if options.quick else [s for s in STEPS if not options.steps or s.name in options.steps]

    # Being told to end, end what was started too: an exception runs the `finally` of run.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit('check: ended by a signal'))
    LOGS.mkdir(parents=True, exist_ok=True)
    total = Count()
    begin = time.monotonic()
    for number, step in enumerate(steps, 1):
        say(f'[{number}/{len(steps)}] {step.name}: {step.what}')
        start = time.monotonic()
        count = run_step(step)
        report(step, count, time.monotonic() - start)
        total.add(count)
    skipped = f', {total.skipped} tests skipped' if total.skipped else ''
    say(f'{len(steps)} steps in {minutes(time.monotonic() - begin)}{skipped}; logs in build/check-logs/')
    say(f'{total.passed} passed, {total.failed} failed')
    return 0 if total.failed == 0 and total.passed > 0 else 1


if __name__ == '__main__':
    sys.exit(main())
