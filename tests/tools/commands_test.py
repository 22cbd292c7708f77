#!/usr/bin/env python3
"""./demo, ./check and tools/setup, by what a user sees of them: wrong arguments, progress, an interrupt, the tables.

dpkg-query and apt-get are programs of the test's own: nothing is installed. Prints TAP. usage: commands_test.py ROOT
"""
import contextlib
import importlib
import io
import json
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
    echo "Unpacking first"
    echo "Unpacking second"
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
    refuses(scratch, ['./check', '--lit'], ["unknown option '--lit'", 'did you mean --list?', '--quick --full'])
    refuses(scratch, ['./check', 'assan'], ["no step 'assan'", 'did you mean asan?', 'gcc layout docs'])
    refuses(scratch, ['./check', 'gcc', 'nonsense'], ["no step 'nonsense'"])
    refuses(scratch, ['./check', '--quick', 'asan'], ["no folder 'asan'"])
    refuses(scratch, ['./check', '--quick', 'fult', 'sync'], ['--quick takes one folder, not fult sync'])
    refuses(scratch, ['./check', '--quick', '--full'], ['--quick and --full exclude each other'])
    for wrong in ('0', '-1', 'twice', ''):
        refuses(scratch, ['./check', '--repeat', wrong], [f"--repeat is '{wrong}'"])
    refuses(scratch, ['./check', '--repeat'], ['--repeat needs a number'])
    refuses(scratch, ['./check', 'gcc'], ["FULT_CHECK_JOBS is 'all'"], FULT_CHECK_JOBS='all')


def tests_do_not_see_its_variable(scratch):
    program = 'import os; from checks import builds; print(builds.JOBS, os.environ.get("FULT_CHECK_JOBS"))'
    result = subprocess.run([sys.executable, '-B', '-c', program], cwd=ROOT / 'tools', capture_output=True, text=True,
                            env={**scratch.environment, 'FULT_CHECK_JOBS': '3'})
    expect(result.stdout == '3 None\n', f'{result.stdout}{result.stderr}')


def demo_reads_arguments_first(scratch):
    refuses(scratch, ['./demo', '--run', '3'], ["unknown option '--run'", 'did you mean --runs?'])
    for wrong in ('0', '-1', 'three', '', '99999999999'):
        refuses(scratch, ['./demo', '--runs', wrong], [f"--runs is '{wrong}'"])
    refuses(scratch, ['./demo', '--runs'], ['--runs needs a number'])
    refuses(scratch, ['./demo'], ["FULT_WORKERS is 'many'"], FULT_WORKERS='many')
    refuses(scratch, ['./demo'], ["FULT_WORKERS is '1025'"], FULT_WORKERS='1025')


def lists_without_installing(scratch):
    for command in (['./check', '--list'], ['./check', '--help'], ['./check', '--full', '--help'], ['./demo', '--help']):
        result = subprocess.run(command, cwd=ROOT, env=scratch.environment, capture_output=True, text=True)
        expect(result.returncode == 0 and len(result.stdout.splitlines()) > 5, f'{command} said:\n{result.stdout}{result.stderr}')
        expect(not scratch.calls.exists(), f'{command} called apt-get')


def installing_shows_progress(scratch):
    """On a terminal, while apt-get is at work: how many packages are unpacked and set up, of how many."""
    master, terminal = os.openpty()
    setup = subprocess.Popen([ROOT / 'tools' / 'setup', 'demo'], env=scratch.environment, stdin=subprocess.DEVNULL,
                             stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    try:
        said = ''
        while 'packages: unpacked 2, set up 1 of 3' not in said:
            said += os.read(master, 4096).decode()
        scratch.fifo.write_text('')
        expect(setup.wait() == 0, 'tools/setup failed')
        expect('install --no-install-recommends g++' in scratch.calls.read_text(), 'apt-get was not called to install')
    finally:
        if setup.poll() is None:
            os.killpg(setup.pid, signal.SIGKILL)
            setup.wait()
        os.close(master)


def progress_without_a_count(scratch):
    """What has not counted yet is shown without an empty count."""
    master, terminal = os.openpty()
    process = subprocess.Popen([ROOT / 'tools' / 'with_progress', 'building', scratch.folder / 'log', 'cat', scratch.fifo],
                               env=scratch.environment, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    try:
        said = ''
        while ' s)' not in said:
            said += os.read(master, 4096).decode()
        expect(re.search(r'building \(\d+ s\)', said), f'said {said!r}')
        scratch.fifo.write_text('')
        expect(process.wait() == 0, 'with_progress failed')
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(master)
    commands = imported('checks.commands')
    log = scratch.folder / 'log'
    for text, line in (('', '      ... building (3s)\n'), ('[7/80] Compiling\n', '      ... building 7/80 (3s)\n')):
        log.write_text(text)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            commands.say_progress('building', log, 3)
        expect(said.getvalue() == line, f'said {said.getvalue()!r}')


def quick_says_what_the_first_run_costs(scratch):
    """While its build folder is not there, and no more once it is."""
    quick = imported('checks.quick')
    folder = scratch.folder / 'build'
    expect('first run' in quick.cost_of_first(folder), quick.cost_of_first(folder))
    folder.mkdir()
    (folder / 'build.ninja').write_text('')
    expect('first run' in quick.cost_of_first(folder), 'nothing has been compiled')
    (folder / '.ninja_log').write_text('')
    expect(quick.cost_of_first(folder) == '', quick.cost_of_first(folder))


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
    commands = imported('checks.commands')
    silence = commands.Silence(now=100)
    expect(silence.seconds(size=0, now=5000) == 4900, 'silence is counted from the start')
    expect(silence.seconds(size=10, now=5001) == 0, 'output ends silence')
    expect(silence.seconds(size=10, now=6001) == 1000, 'silence is counted from the last output')
    log = scratch.folder / 'log'
    with contextlib.redirect_stdout(io.StringIO()):
        status = commands.run(['sleep', 'infinity'], log, 'sleeping', silence_limit=0.1, heartbeat=0.1)
    expect(status is None, 'a silent command is ended')
    expect('without output' in log.read_text(), 'the log does not say why the command was ended')
    expect(commands.run(['sh', '-c', 'exit 3'], log, 'failing') == 3, 'the exit status is handed on')


def a_silent_test_is_shown_and_ended(scratch):
    """Also what it has started; and a test that speaks is not disturbed."""
    limited = [ROOT / 'tools' / 'limited']
    said = subprocess.run([*limited, '1000', 'sh', '-c', 'echo out; echo err >&2; exit 7'], capture_output=True, text=True)
    expect((said.returncode, said.stdout, said.stderr) == (7, 'out\n', 'err\n'), f'not handed on: {said}')
    said = subprocess.run([*limited, '1000', 'sh', '-c', 'kill -SEGV $$'], capture_output=True, text=True)
    expect(said.returncode == 128 + signal.SIGSEGV, f'a crash is not handed on: {said}')
    for limit, script, status in (('1000', 'sleep {} &', 0), ('0.2', 'sleep {} & wait', 124)):
        unique = f'1000000.{os.getpid()}'
        said = subprocess.run([*limited, limit, 'sh', '-c', script.format(unique)], capture_output=True, text=True)
        expect(said.returncode == status, f'exit status {said.returncode}, not {status}: {said.stdout}{said.stderr}')
        left = subprocess.run(['pgrep', '-f', f'^sleep {unique}'], capture_output=True, text=True).stdout
        expect(not left, f'a program was left behind: {left}')
        if status:
            expect('has printed nothing for 0.2 seconds' in said.stdout and '=== process ' in said.stdout, f'no report: {said.stdout}')


def check_counts_what_meson_writes(scratch):
    """A test counts once, for the first step that takes its suites; a failure comes with the command that repeats it."""
    counts, plan = imported('checks.counts'), imported('checks.plan')
    base = scratch.folder / 'log'
    tests = [('fult:unit+core / switch', 'FAIL', 1), ('fult:layout / words', 'OK', 0), ('fult:timed / sleep_timed', 'OK', 0),
             ('fult:omp / omp_tasks', 'TIMEOUT', 124), ('fult:omp / omp_clang', 'SKIP', 77)]
    base.with_name('log.json').write_text(''.join(json.dumps({'name': name, 'result': result, 'returncode': status, 'duration': 1.5}) + '\n'
                                                  for name, result, status in tests))
    base.with_name('log.junit.xml').write_text(
        '<testsuites><testsuite name="fult.fult:unit+core / switch.a"><testcase name="b"/><testcase name="c"><failure/></testcase>'
        '<testcase name="d"><skipped/></testcase></testsuite><system-err>\x1b[31mas a compiler writes it\x1b[m</system-err></testsuites>')
    gcc, layout, asan = (next(step for step in plan.STEPS if step.name == name) for name in ('gcc', 'layout', 'asan'))
    found = {step.name: counts.Count() for step in (gcc, layout, asan)}
    counts.count_results(base, 'build/gcc', [(step, found[step.name]) for step in (gcc, layout, asan)])
    shown = {name: (count.passed, count.failed, count.skipped, count.seconds) for name, count in found.items()}
    expect(shown == {'gcc': (1, 2, 2, 4.5), 'layout': (1, 0, 0, 1.5), 'asan': (0, 0, 0, 0)}, f'counted {shown}')
    expect(found['gcc'].alone == ['meson test -C build/gcc -v switch --test-args=--gtest_filter=a.c', 'meson test -C build/gcc -v omp_tasks'],
           f'by itself: {found["gcc"].alone}')
    expect(found['gcc'].failures == ['switch: a.c', 'omp_tasks: timeout, exit status 124'], f'failures: {found["gcc"].failures}')


def every_test_has_one_step_of_each_tier(scratch):
    """What the gate leaves out, --full runs; and steps of a directory are one run, what runs alone the last one."""
    plan, runs = imported('checks.plan'), imported('checks.runs')
    suites = {suite for build in (ROOT / 'tests').rglob('meson.build')
              for suite in re.findall(r"suite: \[?'([^']+)'", build.read_text())} | {'unit', 'regression', 'stress', 'timed'}
    for tier in ('gate', 'full'):
        steps = [step for step in plan.steps_of(tier, []) if not step.setup and step.config in ('gcc', 'release', 'clang')]
        for suite in sorted(suites):
            for config in {'gcc', 'release', 'clang'}:
                taking = [step.name for step in steps if step.config == config and step.takes({suite})]
                expect(len(taking) <= 1, f'{tier}: {suite} runs in {taking}')
            expect(tier == 'gate' or suite == 'model' or any(step.takes({suite}) for step in steps), f'no step of --full runs the suite {suite}')
    gate = runs.runs_of(plan.steps_of('gate', []))
    expect([run.config for run in gate] == ['gcc', 'asan'], f'the gate builds {[run.config for run in gate]}')
    expect(runs.runs_of(plan.steps_of('full', []))[-1].name == 'timed', 'tests of time do not run last')
    expect({name for name, *_ in plan.LINES} == {step.name for step in plan.STEPS},
           'tools/check_steps.txt lists other steps than tools/checks/plan.py')


def check_ends_with_a_table(scratch):
    counts, result = imported('checks.counts'), imported('checks.result')
    found = result.outcome('gate', {'commit': 'c', 'clean': True}, {'gcc': (counts.Count(120, 1, 0, 30), 75.2),
                                                                   'layout': (counts.Count(9, 0, 0, 3.4), 0.2)}, 200.04)
    lines = list(result.table(found))
    expect([line.split() for line in lines] == [['step', 'passed', 'failed', 'skipped', 'build', 'tests'],
                                                ['gcc', '120', '1', '0', '1m15s', '30s'],
                                                ['layout', '9', '0', '0', '0s', '3s']], '\n'.join(lines))
    expect((found['passed'], found['failed'], found['seconds'], found['clean']) == (129, 1, 200.0, True), str(found))


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
    checks = (check_reads_arguments_first, tests_do_not_see_its_variable, demo_reads_arguments_first,
              lists_without_installing, installing_shows_progress,
              progress_without_a_count, quick_says_what_the_first_run_costs,
              interrupted_demo_ends_cleanly, interrupted_build_ends_cleanly, table_of_the_demo_fits,
              check_limits_silence_not_length, a_silent_test_is_shown_and_ended, check_counts_what_meson_writes,
              every_test_has_one_step_of_each_tier, check_ends_with_a_table, pictures_are_of_their_data)
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
