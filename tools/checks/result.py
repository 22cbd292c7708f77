"""The outcome of a run of ./check: a table, and build/check-logs/result.json, which ./check --last prints."""
import json
import subprocess
import time

from .commands import minutes, say
from .plan import ROOT
from .runs import LOGS

RESULT = LOGS / 'result.json'


def git(*arguments):
    try:
        return subprocess.run(['git', *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None  # not a clone


def state():
    """The commit, and whether the tree is as that commit is; None where there is no git."""
    changes = git('status', '--porcelain')
    return {'commit': git('rev-parse', 'HEAD'), 'clean': changes == '' if changes is not None else None}


def outcome(tier, before, results, seconds):
    """What is kept of a run; `before` is the state of the tree at its begin."""
    steps = [{'step': name, 'passed': count.passed, 'failed': count.failed, 'skipped': count.skipped, 'build_seconds': round(built, 1),
              'test_seconds': round(count.seconds, 1), 'failures': count.failures} for name, (count, built) in results.items()]
    return {**before, 'tier': tier, 'date': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()), 'seconds': round(seconds, 1),
            **{key: sum(step[key] for step in steps) for key in ('passed', 'failed', 'skipped')}, 'steps': steps}


def table(found):
    """The lines of a table of the steps. The seconds of tests are added up; several run at once, beside the builds of other steps."""
    width = max(len(step['step']) for step in found['steps'])
    yield f'{"step":{width}}  {"passed":>6}  {"failed":>6}  {"skipped":>7}  {"build":>8}  {"tests":>8}'
    for step in found['steps']:
        yield (f'{step["step"]:{width}}  {step["passed"]:6}  {step["failed"]:6}  {step["skipped"]:7}  '
               f'{minutes(step["build_seconds"]):>8}  {minutes(step["test_seconds"]):>8}')


def say_outcome(found):
    for line in table(found):
        say(line)
    steps = len(found['steps'])
    say(f'\n{steps} step{"s" * (steps > 1)} in {minutes(found["seconds"])}; logs in build/check-logs/')
    say(f'{found["passed"]} passed, {found["failed"]} failed')


def keep(found):
    LOGS.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(found, indent=1) + '\n')


def say_last():
    """Prints what the last run has left. The exit status."""
    if not RESULT.exists():
        say('check: nothing has run here yet (build/check-logs/result.json is missing)')
        return 1
    found = json.loads(RESULT.read_text())
    tree = {True: '', False: ', with changes', None: ''}[found['clean']]
    say(f'{found["tier"]}, {found["date"]}, commit {found["commit"] or "unknown"}{tree}')
    for step in found['steps']:
        for failure in step['failures']:
            say(f'failed: {failure}')
    say_outcome(found)
    return 0 if found['failed'] == 0 and found['passed'] > 0 else 1
