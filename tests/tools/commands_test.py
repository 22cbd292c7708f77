#!/usr/bin/env python3
"""./demo, ./check and tools/setup, by what a user sees of them: wrong arguments, progress, an interrupt, the tables.

dpkg-query and apt-get are programs of the test's own: nothing is installed. Prints TAP. usage: commands_test.py ROOT
"""
import contextlib
import importlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
FAKES = {
    'dpkg-query': 'exit 1',  # knows no package
    'id': 'echo 0',
    # Says what apt-get says, and ends once it is let go on.
    'apt-get': '''echo "$*" >>"$SCRATCH/apt-calls"
case "$*" in
*install*)
    echo "1 upgraded, 2 newly installed, 0 to remove"
    echo "Setting up first"
    cat "$SCRATCH/go-on"
    ;;
esac''',
}


class Failure(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


class Scratch:
    def __init__(self, folder):
        self.folder = folder
        self.calls = folder / 'apt-calls'
        self.fifo = folder / 'go-on'
        os.mkfifo(self.fifo)
        fakes = folder / 'bin'
        fakes.mkdir()
        for name, text in FAKES.items():
            (fakes / name).write_text(f'#!/bin/sh\n{text}\n')
            (fakes / name).chmod(0o755)
        self.environment = {**os.environ, 'PATH': f'{fakes}:{os.environ["PATH"]}', 'SCRATCH': str(folder)}
        for name in ('FULT_WORKERS', 'FULT_CHECK_JOBS'):
            self.environment.pop(name, None)


def imported(name):
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(ROOT / 'tools'))
    return importlib.import_module(name)


def refuses(scratch, command, words, **environment):
    """Ends with status 2 and these words, and installs nothing."""
    result = subprocess.run(command, cwd=ROOT, env={**scratch.environment, **environment}, capture_output=True, text=True,
                            stdin=subprocess.DEVNULL)
    said = result.stdout + result.stderr
    expect(result.returncode == 2, f'{command}: exit status {result.returncode}, not 2:\n{said}')
    for word in words:
        expect(word in said, f'{command} does not say "{word}":\n{said}')
    expect(not scratch.calls.exists(), f'{command} called apt-get before it had read its arguments')


def check_reads_arguments_first(scratch):
    refuses(scratch, ['./check', '--lst'], ["unknown option '--lst'", 'did you mean --list?', '--quick --list'])
    refuses(scratch, ['./check', 'assan'], ["no step 'assan'", 'did you mean asan?', 'gcc clang asan tsan'])
    refuses(scratch, ['./check', 'gcc', 'nonsense'], ["no step 'nonsense'"])
    refuses(scratch, ['./check', '--quick', 'gcc'], ['leave out gcc'])
    refuses(scratch, ['./check', 'gcc'], ["FULT_CHECK_JOBS is 'all'"], FULT_CHECK_JOBS='all')


def demo_reads_arguments_first(scratch):
    refuses(scratch, ['./demo', '--run', '3'], ["unknown option '--run'", 'did you mean --runs?'])
    for wrong in ('0', '-1', 'three', '', '99999999999'):
        refuses(scratch, ['./demo', '--runs', wrong], [f"--runs is '{wrong}'"])
    refuses(scratch, ['./demo', '--runs'], ['--runs needs a number'])
    refuses(scratch, ['./demo'], ["FULT_WORKERS is 'many'"], FULT_WORKERS='many')
    refuses(scratch, ['./demo'], ["FULT_WORKERS is '1025'"], FULT_WORKERS='1025')


def lists_without_installing(scratch):
    for command in (['./check', '--list'], ['./check', '--help'], ['./demo', '--help']):
        result = subprocess.run(command, cwd=ROOT, env=scratch.environment, capture_output=True, text=True)
        expect(result.returncode == 0 and len(result.stdout.splitlines()) > 5, f'{command} said:\n{result.stdout}{result.stderr}')
        expect(not scratch.calls.exists(), f'{command} called apt-get')


def installing_shows_progress(scratch):
    """On a terminal, while apt-get is at work: how many packages are set up, of how many."""
    master, terminal = os.openpty()
    setup = subprocess.Popen([ROOT / 'tools' / 'setup', 'demo'], env=scratch.environment, stdin=subprocess.DEVNULL,
                             stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    try:
        said = ''
        while 'packages: set up 1 of 3' not in said:
            said += os.read(master, 4096).decode()
        scratch.fifo.write_text('')
        expect(setup.wait() == 0, 'tools/setup failed')
        expect('install --no-install-recommends g++' in scratch.calls.read_text(), 'apt-get was not called to install')
    finally:
        if setup.poll() is None:
            os.killpg(setup.pid, signal.SIGKILL)
            setup.wait()
        os.close(master)


def gone(pid):
    """Raises Failure if the process is still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    raise Failure('a program was left behind')


def interrupted_demo_ends_cleanly(scratch):
    """One line, exit status 130, and the program that ran is gone."""
    tree = scratch.folder / 'tree'
    program = tree / 'build' / 'release' / 'bench' / 'uts-serial'
    program.parent.mkdir(parents=True)
    (tree / 'tools').mkdir()
    for name in ('demo.py', 'children.py'):
        shutil.copy(ROOT / 'tools' / name, tree / 'tools')
    started = scratch.folder / 'started'
    os.mkfifo(started)
    program.write_text(f'#!/bin/sh\necho $$ >{started}\nexec sleep infinity\n')
    program.chmod(0o755)
    demo = subprocess.Popen([sys.executable, '-B', tree / 'tools' / 'demo.py'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, text=True)
    pid = int(started.read_text())
    demo.send_signal(signal.SIGINT)
    _, errors = demo.communicate()
    expect(demo.returncode == 130, f'exit status {demo.returncode}, not 130:\n{errors}')
    expect(errors.splitlines()[-1] == 'demo: interrupted' and 'Traceback' not in errors, f'said:\n{errors}')
    gone(pid)


def interrupted_build_ends_cleanly(scratch):
    """The same while ./demo configures: the terminal interrupts the whole group."""
    tree = scratch.folder / 'tree'
    tree.mkdir()
    shutil.copytree(ROOT / 'tools', tree / 'tools')
    shutil.copy(ROOT / 'demo', tree)
    started = scratch.folder / 'started'
    os.mkfifo(started)
    fakes = {'dpkg-query': 'shift 3; for package; do echo "installed $package"; done',
             'meson': f'echo $$ >{started}; exec sleep infinity'}
    for name, text in fakes.items():
        (scratch.folder / 'bin' / name).write_text(f'#!/bin/sh\n{text}\n')
        (scratch.folder / 'bin' / name).chmod(0o755)
    demo = subprocess.Popen([tree / 'demo'], env=scratch.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True)
    pid = int(started.read_text())
    os.killpg(demo.pid, signal.SIGINT)
    _, errors = demo.communicate()
    expect(demo.returncode == 130, f'exit status {demo.returncode}, not 130:\n{errors}')
    expect(errors.splitlines()[-1] == 'demo: interrupted', f'said:\n{errors}')
    gone(pid)


def table_of_the_demo_fits(scratch):
    """80 columns; and a speed-up below one is explained."""
    demo = imported('demo')
    times = [(59.999, 0.0), (59.999, 99.9), (299.999, 99.9)]
    rows = [demo.row_of(job, times) for job in demo.JOBS]
    result = subprocess.run([sys.executable, '-B', '-c', 'import sys; sys.path.insert(0, sys.argv[1]); import demo; '
                             f'demo.table(demo.header(1024) + {rows!r}); print(demo.explanation(3)); print(demo.NEXT)',
                             str(ROOT / 'tools')], capture_output=True, text=True, check=True)
    wide = [line for line in result.stdout.splitlines() if len(line) > 80]
    expect(not wide, 'wider than 80 columns:\n' + '\n'.join(wide))
    fib = [row for row in rows if row[0] == demo.COST_OF_A_TASK]
    expect(len(fib) == 1 and '*' in ''.join(fib[0]) and f'* {demo.COST_OF_A_TASK} ' in result.stdout, result.stdout)


def check_limits_silence_not_length(scratch):
    check = imported('check')
    silence = check.Silence(now=100)
    expect(silence.seconds(size=0, now=5000) == 4900, 'silence is counted from the start')
    expect(silence.seconds(size=10, now=5001) == 0, 'output ends silence')
    expect(silence.seconds(size=10, now=6001) == 1000, 'silence is counted from the last output')
    builds = [path for folder in ('tests', 'examples', 'docs') for path in (ROOT / folder).rglob('meson.build')]
    longest = max(int(limit) for build in builds for limit in re.findall(r'timeout: (\d+)', build.read_text()))
    expect(longest < check.SILENCE_LIMIT, f'a test may be silent for {longest} s, and ./check ends it before')
    log = scratch.folder / 'log'
    with contextlib.redirect_stdout(io.StringIO()):
        status = check.run(['sleep', 'infinity'], log, 'sleeping', silence_limit=0.1, heartbeat=0.1)
    expect(status is None, 'a silent command is ended')
    expect('without output' in log.read_text(), 'the log does not say why the command was ended')
    expect(check.run(['sh', '-c', 'exit 3'], log, 'failing') == 3, 'the exit status is handed on')


def check_ends_with_a_table(scratch):
    check = imported('check')
    lines = list(check.summary([(check.STEPS[0], check.Count(passed=120, failed=1), 75.2, 30),
                                (check.QUICK[1], check.Count(9), 0.2, 3.4)]))
    expect([line.split() for line in lines] == [['step', 'passed', 'failed', 'skipped', 'build', 'tests'],
                                                ['gcc', '120', '1', '0', '1m15s', '30s'],
                                                ['layout', '9', '0', '0', '0s', '3s']], '\n'.join(lines))
    expect([step.name for step in check.STEPS] == list(check.WHAT), 'tools/check_steps.txt lists other steps than tools/check.py')


def pictures_are_of_their_data(scratch):
    for data in sorted((ROOT / 'docs' / 'plots').glob('*.json')):
        made = scratch.folder / 'made.svg'
        subprocess.run([ROOT / 'bench' / 'plot', data, made], check=True)
        expect(made.read_text() == data.with_suffix('.svg').read_text(), f'bench/plot {data.relative_to(ROOT)} makes another picture')
    wrong = scratch.folder / 'wrong.json'
    wrong.write_text('{"title": "t", "unit": "ns", "note": "", "rows": [{"name": "n", "values": {"No library": 1}}]}')
    answer = subprocess.run([ROOT / 'bench' / 'plot', wrong], capture_output=True, text=True)
    expect(answer.returncode == 1 and 'No library' in answer.stderr, answer.stderr)


def main():
    checks = (check_reads_arguments_first, demo_reads_arguments_first, lists_without_installing, installing_shows_progress,
              interrupted_demo_ends_cleanly, interrupted_build_ends_cleanly, table_of_the_demo_fits,
              check_limits_silence_not_length, check_ends_with_a_table, pictures_are_of_their_data)
    print(f'1..{len(checks)}')
    failed = 0
    for number, check in enumerate(checks, 1):
        with tempfile.TemporaryDirectory(prefix='fult-commands-') as scratch:
            try:
                check(Scratch(Path(scratch)))
                print(f'ok {number} {check.__name__}', flush=True)
            except (Failure, subprocess.SubprocessError) as failure:
                failed += 1
                print(f'not ok {number} {check.__name__}', flush=True)
                print(f'--- {check.__name__}\n{failure}', file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
