"""The main job of ./demo: each kernel serially, on one worker and on all, its answer checked; then a table."""
import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

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


class Failure(Exception):
    pass


def all_workers():
    text = os.environ.get('FULT_WORKERS', '')
    if not text:
        return len(os.sched_getaffinity(0))
    if not text.isdigit() or int(text) == 0:
        raise Failure(f"FULT_WORKERS is '{text}', not a number from 1 on")
    return int(text)


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f'\r\033[K{text}')
    elif text:
        sys.stderr.write(f'{text}\n')
    sys.stderr.flush()


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
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
    except FileNotFoundError:
        raise Failure(f'{program.relative_to(ROOT)} was not built; remove build/release and run ./demo again') from None
    except subprocess.TimeoutExpired:
        raise Failure(f'{shown}: no answer after {LIMIT} s ({" ".join(command)})') from None
    # The programs compare their answers themselves, and end with an error where one is wrong. Those they tell are compared
    # here once more, with numbers that do not come from them.
    if run.returncode != 0:
        raise Failure(f'{shown}: {run.stderr.strip() or "failed"} (exit status {run.returncode}; {" ".join(command)})')
    records = [json.loads(line) for line in run.stdout.splitlines() if line.startswith('{')]
    if len(records) != runs:
        raise Failure(f'{shown}: {len(records)} results instead of {runs} ({" ".join(command)})')
    told = answers(records, run.stderr)
    for answer in told:
        if answer != expected:
            raise Failure(f'{shown}: wrong answer: {answer} instead of {expected}')
    if told and len(told) != runs:
        raise Failure(f'{shown}: {len(told)} answers instead of {runs} ({" ".join(command)})')
    best = min(records, key=lambda record: record['seconds'])
    return best['seconds'], best['ns_per_task']


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        # Words to the left, numbers to the right.
        print('  '.join(cell.ljust(w) if i < 3 else cell.rjust(w)
                        for i, (cell, w) in enumerate(zip(row, widths))).rstrip())
        if number == 0:
            print('  '.join('-' * w for w in widths))


def two_ranks():
    """Messages between two processes: prints the program's own table. Failure where an answer is wrong."""
    if not RANKS[-1].exists():
        print('\nMessages between ranks: built without libfabric.')
        return
    progress('demo: two ranks, a ping-pong and 100,000 pairs of tasks')
    try:
        run = subprocess.run([str(each) for each in RANKS], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise Failure(f'two ranks: no answer after {LIMIT} s ({" ".join(map(str, RANKS))})') from None
    progress('')
    print('\n' + run.stdout.rstrip())
    if run.returncode != 0:
        raise Failure(f'two ranks: {run.stderr.strip() or "failed"} (exit status {run.returncode})')


def main():
    parser = argparse.ArgumentParser(prog='demo')
    parser.add_argument('--runs', type=int, default=3)
    runs = parser.parse_args().runs
    if runs < 1:
        raise Failure('--runs needs a number from 1 on')
    workers = all_workers()
    plural = 's' if workers > 1 else ''
    rows = [('job', 'answer', 'right', 'serial s', 'FULT, 1 worker s', f'FULT, {workers} worker{plural} s', 'speed-up',
             'ns a task')]
    ways = [('serial', 1), ('fult', 1), ('fult', workers)]
    failures = []
    for number, job in enumerate(JOBS):
        times = []
        try:
            for part, (version, count) in enumerate(ways):
                progress(f'demo: [{number * 3 + part + 1}/{len(JOBS) * 3}] {job[0]}, {version}, {count} worker'
                         f'{"s" if count > 1 else ""}')
                times.append(measure(job, version, count, runs))
        except Failure as failure:
            progress('')
            failures.append(str(failure))
            rows.append((job[0], job[3], 'NO', *(f'{s:.3f}' for s, _ in times), *('-' * (3 - len(times))), '-', '-'))
            continue
        (serial, _), (one, task), (all_, _) = times
        rows.append((job[0], job[3], 'yes', f'{serial:.3f}', f'{one:.3f}', f'{all_:.3f}', f'{serial / all_:.2f}x',
                     f'{task:.1f}'))
    progress('')
    table(rows)
    print(f'\nA task a node, a placement, a call. Best of {runs}; speed-up: serial over {workers} worker{plural}; '
          'ns a task: all of the time on 1 worker.')
    try:
        two_ranks()
    except Failure as failure:
        failures.append(str(failure))
    for failure in failures:
        print(f'demo: {failure}', file=sys.stderr)
    return 1 if failures else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f'demo: {failure}')
