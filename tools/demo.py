"""The main job of ./demo: each kernel serially, on one worker and on all, its answer checked; then a table."""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import children

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / 'build' / 'release' / 'bench'
LIMIT = 300  # seconds for one program
RANKS = [BENCH.parent / 'comm' / 'run' / 'fult-run', '-n', '2', BENCH / 'comm' / 'demo-ranks']

# What is known about each answer. The sources: the trees as published with the benchmark (Olivier and others, "UTS: An
# Unbalanced Tree Search Benchmark", 2006), the queens from OEIS A000170, the numbers of Fibonacci from OEIS A000045.
JOBS = [
    ('UTS T1', 'uts', ['T1', '--show'], '4,130,071 nodes, depth 10'),
    ('UTS T3', 'uts', ['T3', '--show'], '4,112,897 nodes, depth 1,572'),
    ('12 queens', 'nqueens', ['-n', '12'], '14,200'),
    ('fib(38)', 'fib', ['-n', '38'], '39,088,169'),
]
# Of which "speed-up" says least.
COST_OF_A_TASK = 'fib(38)'
WORDS = 3  # the table's columns of words; the others are numbers
NEXT = """What next:
  a first program   g++ -std=c++20 -O2 -Iinclude examples/hello.cpp -o hello \\
                      -Lbuild/release/fult -lfult \\
                      -Wl,-rpath,$PWD/build/release/fult
                    ./hello
  install it        README.md, "Building, installing, using": the build is done
  all tests         ./check --quick, ./check
  what to read      README.md, docs/debugging.md for when a program hangs"""


class Failure(Exception):
    pass


def all_workers():
    text = os.environ.get('FULT_WORKERS', '')
    return int(text or '0') or len(os.sched_getaffinity(0))


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f'\r\033[K{text}')
    elif text:
        sys.stderr.write(f'{text}\n')
    sys.stderr.flush()


def run_program(command):
    """A program's exit status, output and errors."""
    with children.started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        output, errors = process.communicate(timeout=LIMIT)
    return process.returncode, output, errors


def answers(output, errors):
    """Every answer that a run tells, one a round, as the table writes it."""
    found = re.findall(r'(\d+) nodes, \d+ leaves, depth (\d+)', errors)
    if found:
        return [f'{int(nodes):,} nodes, depth {int(depth):,}' for nodes, depth in found]
    return [f'{int(record["answer"]):,}' for record in output if 'answer' in record]


def measure(job, version, workers, runs):
    """The best time of the runs, in seconds, and nanoseconds a task in that run. Failure where an answer is wrong."""
    name, kernel, arguments, expected = job
    program = BENCH / f'{kernel}-{version}'
    command = [str(program), *arguments, '--rounds', str(runs), '--workers', str(workers)]
    shown = f'{name}, {version}, {workers} worker{"s" if workers > 1 else ""}'
    try:
        status, output, errors = run_program(command)
    except FileNotFoundError:
        raise Failure(f'{program.relative_to(ROOT)} was not built; remove build/release and run ./demo again') from None
    except subprocess.TimeoutExpired:
        raise Failure(f'{shown}: no answer after {LIMIT} s ({" ".join(command)})') from None
    # The programs compare their answers themselves, and end with an error where one is wrong. Those they tell are compared
    # here once more, with numbers that do not come from them.
    if status != 0:
        raise Failure(f'{shown}: {errors.strip() or "failed"} (exit status {status}; {" ".join(command)})')
    records = [json.loads(line) for line in output.splitlines() if line.startswith('{')]
    if len(records) != runs:
        raise Failure(f'{shown}: {len(records)} results instead of {runs} ({" ".join(command)})')
    told = answers(records, errors)
    for answer in told:
        if answer != expected:
            raise Failure(f'{shown}: wrong answer: {answer} instead of {expected}')
    if told and len(told) != runs:
        raise Failure(f'{shown}: {len(told)} answers instead of {runs} ({" ".join(command)})')
    timed = [record for record in records if record['seconds'] is not None]
    if not timed:
        raise Failure(f'{shown}: no time is a number ({" ".join(command)})')
    best = min(timed, key=lambda record: record['seconds'])
    return best['seconds'], best['ns_per_task']


def table(rows):
    """The first two rows are the header. Words to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print('  '.join(cell.ljust(w) if i < WORDS else cell.rjust(w)
                        for i, (cell, w) in enumerate(zip(row, widths))).rstrip())
        if number == 1:
            print('  '.join('-' * w for w in widths))


def header(workers):
    return [('', '', '', 'serial', '1 worker', f'{workers} worker' + 's' * (workers > 1), 'speed-', 'ns a'),
            ('job', 'answer', 'right', 'seconds', 'seconds', 'seconds', 'up', 'task')]


def row_of(job, times):
    """A line of the table; without times where the job failed."""
    name, _, _, expected = job
    answer = expected.partition(', ')[0]
    if not times:
        return name, answer, 'NO', '-', '-', '-', '-', '-'
    (serial, _), (one, task), (all_, _) = times
    return (name, answer, 'yes', f'{serial:.3f}', f'{one:.3f}', f'{all_:.3f}',
            f'{serial / all_:.2f}x' + '*' * (name == COST_OF_A_TASK), f'{task:.1f}')


def explanation(runs):
    return (f'Best of {runs} runs. speed-up: serial over all workers. ns a task: time on one worker\n'
            'over tasks; a task is a node of the tree, a queen placed, or a call of fib.\n'
            f'* {COST_OF_A_TASK} makes a task of every call, and its serial version plain calls that\n'
            '  the compiler partly inlines: read it as the cost of a task. Tasks that do more\n'
            '  than one addition, as in the other rows, gain.')


def busy(load, processors):
    """A warning, where other programs took part of the processors; else nothing."""
    if load < 0.5 * processors:
        return ''
    return f'\nThe machine was busy before this began (load {load:.1f}): the times say little.'


def measured(runs, workers):
    """Runs all jobs: the table's rows, and what failed."""
    ways = [('serial', 1), ('fult', 1), ('fult', workers)]
    rows, failures = [], []
    for number, job in enumerate(JOBS):
        times = []
        try:
            for part, (version, count) in enumerate(ways):
                progress(f'demo: [{number * 3 + part + 1}/{len(JOBS) * 3}] {job[0]}, {version}, {count} worker'
                         f'{"s" if count > 1 else ""}')
                times.append(measure(job, version, count, runs))
        except Failure as failure:
            failures.append(str(failure))
            times = []
        rows.append(row_of(job, times))
    progress('')
    return rows, failures


def two_ranks():
    """Messages between two processes: prints the program's own table. Failure where an answer is wrong."""
    if not RANKS[-1].exists():
        print('\nMessages between ranks: built without libfabric.')
        return
    progress('demo: two ranks, a ping-pong and 100,000 pairs of tasks')
    command = [str(each) for each in RANKS]
    try:
        status, output, errors = run_program(command)
    except subprocess.TimeoutExpired:
        raise Failure(f'two ranks: no answer after {LIMIT} s ({" ".join(command)})') from None
    progress('')
    print('\n' + output.rstrip())
    if status != 0:
        raise Failure(f'two ranks: {errors.strip() or "failed"} (exit status {status})')


def main():
    parser = argparse.ArgumentParser(prog='demo', allow_abbrev=False)
    parser.add_argument('--runs', type=int, default=3)
    runs = parser.parse_args().runs
    workers = all_workers()
    load = os.getloadavg()[0]
    rows, failures = measured(runs, workers)
    table(header(workers) + rows)
    print('\n' + explanation(runs) + busy(load, os.cpu_count()))
    try:
        two_ranks()
    except Failure as failure:
        failures.append(str(failure))
    for failure in failures:
        print(f'demo: {failure}', file=sys.stderr)
    if not failures:
        print('\n' + NEXT)
    return 1 if failures else 0


if __name__ == '__main__':
    # These, too, end what was started.
    for wanted in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(wanted, lambda number, _: sys.exit(128 + number))
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f'demo: {failure}')
    except KeyboardInterrupt:
        progress('')
        print('demo: interrupted', file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
