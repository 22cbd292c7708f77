"""Shared by the random programs of ranks: one program after the other, each from a seed of its own."""
import argparse
import time


def parser_of_seeds():
    """Knows the programs to run and how many; others may add options."""
    parser = argparse.ArgumentParser()
    parser.add_argument('fult_run')
    parser.add_argument('program')
    parser.add_argument('--seed', type=int)
    parser.add_argument('--count', type=int, help='programs; with neither this nor --seconds, one')
    parser.add_argument('--seconds', type=float, help='begin no program after so many')
    parser.add_argument('--keep-on', action='store_true', help='go on after a failure')
    return parser


def run_all(given, draw, attempt):
    """draw(seed) makes a program, whose text repeats it; attempt(program) runs it, and returns what is wrong, and its errors.
    Without --seed, the clock provides one. The exit status."""
    fresh = time.time_ns() // 1000 % 1_000_000_000  # time: measured, not judged
    seed = given.seed if given.seed is not None else fresh
    now = time.monotonic  # time: measured, not judged
    begin, done, failed = now(), 0, 0
    while True:
        program = draw(seed + done)
        print(program, flush=True)
        wrong, err = attempt(program)
        done += 1
        if wrong:
            failed += 1
            print(f'FAILED: {program}: {wrong}\n{err[-12000:]}', flush=True)
            if not given.keep_on:
                break
        over = given.seconds is not None and now() - begin > given.seconds
        if over or (given.count is not None and done >= given.count) or (given.count is None and given.seconds is None):
            break
    print(f'{done} programs, {failed} failed, {now() - begin:.0f} s')
    return 1 if failed else 0
