"""The steps of ./check: configure, build and test in several ways, count, and report. See ./check --help."""
import argparse
import signal
import sys
import time

from checks import quick, result
from checks.builds import Builds
from checks.commands import minutes, say
from checks.counts import Count
from checks.plan import WHAT, steps_of
from checks.runs import LOGS, run_tests, runs_of


def step_name(text):
    if text not in WHAT:
        raise argparse.ArgumentTypeError(f"there is no step '{text}'; the steps are {' '.join(WHAT)}")
    return text


def options():
    parser = argparse.ArgumentParser(prog='check', add_help=False, allow_abbrev=False)
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--full', action='store_true')
    parser.add_argument('--last', action='store_true')
    parser.add_argument('--repeat', type=int, default=1)
    parser.add_argument('names', nargs='*')
    found = parser.parse_args()
    found.tier = 'quick' if found.quick else 'full' if found.full else 'gate'
    return found


def run(wanted, before, begin):
    """Builds and tests once, or tests several times. Returns the outcome, whose counts are of all rounds."""
    runs = runs_of(quick.steps(wanted.names[0] if wanted.names else None) if wanted.quick
                   else steps_of(wanted.tier, [step_name(name) for name in wanted.names]))
    for run_ in runs:
        run_.log.unlink(missing_ok=True)
    builds = Builds(runs)
    total, rounds = {}, []
    for number in range(1, wanted.repeat + 1):
        if wanted.repeat > 1:
            say(f'\n--- round {number} of {wanted.repeat}')
        start = time.monotonic()
        results = run_tests(runs, builds)
        rounds.append((time.monotonic() - start, [count for count, _ in results.values()]))
        for name, (count, built) in results.items():
            total.setdefault(name, (Count(), built))[0].add(count)
    if wanted.repeat > 1:
        say('\nround     passed  failed      time')
        for number, (seconds, counts) in enumerate(rounds, 1):
            say(f'{number:5}  {sum(c.passed for c in counts):9}  {sum(c.failed for c in counts):6}  {minutes(seconds):>8}')
            for failure in (failure for count in counts for failure in count.failures):
                say(f'       failed: {failure}')
    return result.outcome(wanted.tier, before, total, time.monotonic() - begin)


def main():
    wanted = options()
    if wanted.last:
        return result.say_last()
    begin = time.monotonic()
    # When ended by a signal, end the running command, too: an exception runs the `finally` of run.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit('check: ended by a signal'))
    LOGS.mkdir(parents=True, exist_ok=True)
    found = run(wanted, result.state(), begin)
    result.keep(found)
    say()
    result.say_outcome(found)
    return 0 if found['failed'] == 0 and found['passed'] > 0 else 1


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(say('check: interrupted') or 128 + signal.SIGINT)
