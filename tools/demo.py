"""The benchmarks of ./demo: each serially, on one worker and on all; checks the answers and prints a table."""
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
RANKS = [BENCH.parent / 'launcher' / 'fult-run', '-n', '2', BENCH / 'comm' / 'demo-ranks']

# The expected answers. Sources: the trees as published with the benchmark (Olivier and others, "UTS: An Unbalanced Tree
# Search Benchmark", 2006), the queens from OEIS A000170, the Fibonacci numbers from OEIS A000045.
JOBS = [
    ('UTS T1', 'uts', ['T1', '--show'], '4,130,071 nodes, depth 10'),
    ('UTS T3', 'uts', ['T3', '--show'], '4,112,897 nodes, depth 1,572'),
    ('12 queens', 'nqueens', ['-n', '12'], '14,200'),
    ('fib(38)', 'fib', ['-n', '38'], '39,088,169'),
]
# Its row shows the cost of a task, not a speed-up.
COST_OF_A_TASK = 'fib(38)'
WORDS = 3  # columns of the table that hold words; the others hold numbers
NEXT = """What to try next:
  a first program   g++ -std=c++20 -O2 -Iinclude examples/hello.cpp -o hello \\
                      -Lbuild/release/fult -lfult \\
                      -Wl,-rpath,$PWD/build/release/fult
                    ./hello
  install           README.md, "Building, installing, using"; the build is done
  run the tests     ./check --quick (a minute), ./check
  your own code     README.md, "Which of these do you use?"
  if it hangs       docs/debugging.md"""


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
    """The answers of a run, one per round, in the format of the table."""
    found = re.findall(r'(\d+) nodes, \d+ leaves, depth (\d+)', errors)
    if found:
        return [f'{int(nodes):,} nodes, depth {int(depth):,}' for nodes, depth in found]
    return [f'{int(record["answer"]):,}' for record in output if 'answer' in record]


def measure(job, version, workers, runs):
    """The best time of the runs in seconds, and the nanoseconds per task of that run. Failure if an answer is wrong."""
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
    # The programs check their answers and fail if one is wrong. The answers that they print are checked again here, against
    # published numbers.
    if status != 0:
        raise Failure(f'{shown}: {errors.strip() or "failed"} (exit status {status}; {" ".join(command)})')
    records = [json.loads(line) for line in output.splitlines() if line.startswith('{')]
    if len(records) != runs:
        raise Failure(f'{shown}: {len(records)} results instead of {runs} ({" ".join(command)})')
    printed = answers(records, errors)
    for answer in printed:
        if answer != expected:
            raise Failure(f'{shown}: wrong answer: {answer} instead of {expected}')
    if printed and len(printed) != runs:
        raise Failure(f'{shown}: {len(printed)} answers instead of {runs} ({" ".join(command)})')
    timed = [record for record in records if record['seconds'] is not None]
    if not timed:
        raise Failure(f'{shown}: no run has a valid time ({" ".join(command)})')
    best = min(timed, key=lambda record: record['seconds'])
    return best['seconds'], best['ns_per_task']


def table(rows):
    """The first two rows are the header. Words are left-aligned, numbers right-aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print('  '.join(cell.ljust(w) if i < WORDS else cell.rjust(w)
                        for i, (cell, w) in enumerate(zip(row, widths))).rstrip())
        if number == 1:
            print('  '.join('-' * w for w in widths))


def header(workers):
    return [('', '', '', 'serial', '1 worker', f'{workers} worker' + 's' * (workers > 1), 'speed-', 'ns/'),
            ('job', 'answer', 'check', 'seconds', 'seconds', 'seconds', 'up', 'task')]


def row_of(job, times):
    """A row of the table; without times if the job failed."""
    name, _, _, expected = job
    answer = expected.partition(', ')[0]
    if not times:
        return name, answer, 'WRONG', '-', '-', '-', '-', '-'
    (serial, _), (one, task), (all_, _) = times
    return (name, answer, 'ok', f'{serial:.3f}', f'{one:.3f}', f'{all_:.3f}',
            f'{serial / all_:.2f}x' + '*' * (name == COST_OF_A_TASK), f'{task:.1f}')


def explanation(runs):
    return (f'Best of {runs} runs. speed-up: serial time / time on all workers. ns/task: time\n'
            'on one worker / tasks; a task is a tree node, a placed queen, or a call of fib.\n'
            f'* {COST_OF_A_TASK} spawns a task for every call; the serial version makes plain calls,\n'
            '  most of which the compiler inlines. This row shows the cost of a task, not a\n'
            '  speed-up. The tasks of the other rows do more than one addition.')


def busy(load, processors):
    """A warning if other programs used the processors; else nothing."""
    if load < 0.5 * processors:
        return ''
    return f'\nThe machine was busy before the runs (load {load:.1f}): do not rely on the times.'


def measured(runs, workers):
    """Runs all jobs. Returns the rows of the table, and the failures."""
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
    """Messages between two processes: prints the program's table. Failure if an answer is wrong."""
    if not RANKS[-1].exists():
        print('\nMessages between ranks: not built, because libfabric is missing.')
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
    # These end the running program, too.
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
