"""Runs of tests: the steps that need one build directory run in one go, so that no processor waits for the end of a step."""
import re
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

from aslr import without_aslr

from .builds import BUILD, JOBS
from .commands import failure_of, minutes, run, say
from .counts import Count, count_results
from .plan import ROOT, SEPARATE

LOGS = BUILD / 'check-logs'
LIMITED = ROOT / 'tools' / 'limited'
TESTS_AT_ONCE = str(int(JOBS) + 1)  # many spend their time waiting
TEST_SILENCE = '600'  # seconds without output after which a test hangs


@dataclass
class Run:
    """Steps that share a build directory, and one run of meson test in it."""
    config: str
    steps: list
    counts: dict = field(default_factory=dict)  # by the step's name

    @property
    def name(self):
        first = self.steps[0]
        return first.name if len(first.configs()) == 1 else f'{first.name}-{self.config}'

    @property
    def log(self):
        return LOGS / f'{self.name}.log'

    @property
    def title(self):
        return '; '.join(f'{step.name}: {step.what}' for step in self.steps)


def runs_of(steps):
    """Steps of one directory are one run. What has a setup of its own is a run by itself, and so is what runs alone, which comes last."""
    runs = []
    for step in sorted(steps, key=lambda step: step.alone):
        for config in step.configs():
            same = [run for run in runs if run.config == config and not (run.steps[0].setup or run.steps[0].alone)]
            if same and not step.setup and not step.alone and len(step.configs()) == 1:
                same[0].steps.append(step)
            else:
                runs.append(Run(config, [step]))
    return runs


def excerpt(log, most=50):
    """The lines of a log that show the failure: from the first failure on, or else the last ones."""
    lines = log.read_text(errors='replace').splitlines() if log.exists() else []
    for number, line in enumerate(lines):
        if re.match(r'FAILED: |\S*ERROR: |.*: ERROR: |\s*\d+/\d+ .* (FAIL|ERROR|TIMEOUT) ', line):
            return lines[number:number + most]
    return lines[-most:]


def suites_arguments(steps):
    """meson test's arguments for the tests of the steps."""
    chosen = [suite for step in steps for suite in step.suites]
    if all(step.suites for step in steps):
        left_out = set.intersection(*(set(step.left_out()) for step in steps))
    else:
        left_out = set(SEPARATE) - set(chosen)
        chosen = []
    return [argument for suite in chosen for argument in ('--suite', suite)] \
        + [argument for suite in sorted(left_out) for argument in ('--no-suite', suite)]


def test(run_):
    """Runs the tests; run_.counts has the outcome of each step."""
    first = run_.steps[0]
    directory = BUILD / run_.config
    # Meson adds the setup or the wrapper to the name.
    base = directory / 'meson-logs' / f'check-{run_.name}-{first.setup or LIMITED.name}'
    for old in base.parent.glob(f'{base.name}*'):
        old.unlink()
    command = ['meson', 'test', '-C', str(directory), '--no-rebuild', '--print-errorlogs', '--num-processes',
               '1' if first.alone else TESTS_AT_ONCE, '--logbase', f'check-{run_.name}']
    if first.setup:
        command += ['--setup', first.setup]
    else:
        command += ['--timeout-multiplier', '0', '--wrapper', f'{LIMITED} {TEST_SILENCE}']
    command += suites_arguments(run_.steps)
    if run_.config == 'tsan':
        command = without_aslr() + command
    status = run(command, run_.log, 'testing')
    run_.counts = {step.name: Count() for step in run_.steps}
    main = run_.counts[first.name]
    try:
        count_results(base, directory.relative_to(ROOT), [(step, run_.counts[step.name]) for step in run_.steps])
    except (OSError, ValueError, ET.ParseError) as error:
        main.fail(f'{first.name}: no results: {error}')
    if status is None or (status != 0 and not any(count.failed for count in run_.counts.values())):
        main.fail(f'{first.name}: {failure_of("meson test", status)}')
    for step in run_.steps:
        count = run_.counts[step.name]
        if count.passed + count.failed == 0:
            count.fail(f'{step.name}: no test ran' + (', all were skipped' if count.skipped else ''))


def report(name, count, seconds, log):
    verdict = 'ok  ' if count.failed == 0 else 'FAIL'
    skipped = f', {count.skipped} skipped' if count.skipped else ''
    say(f'      {verdict}  {name}: {count.passed} passed, {count.failed} failed{skipped} ({minutes(seconds)})')
    if count.failed:
        for failure in count.failures:
            say(f'        failed:  {failure}')
        for command in count.alone:
            say(f'        by itself:  {command}')
        say(f'        from {log.relative_to(ROOT)}:')
        for line in excerpt(log):
            say(f'        | {line[:300]}')
    for skip in count.skips:
        say(f'        skipped: {skip}')


def run_tests(runs, builds):
    """Tests and reports all runs. Returns {step name: (count, seconds of its build, seconds of its tests)}."""
    results = {}
    for number, run_ in enumerate(runs):
        say(f'[{number + 1}/{len(runs)}] {run_.title}')
        made = builds.wait_for(number)
        if made.failed + made.skipped == 0:
            test(run_)
        else:
            run_.counts = {step.name: Count() for step in run_.steps}
            run_.counts[run_.steps[0].name] = made
            for step in run_.steps[1:]:
                run_.counts[step.name].skip(f'{step.name}: {run_.config} is not built')
        for step in run_.steps:
            count = run_.counts[step.name]
            report(run_.name if step is run_.steps[0] else step.name, count, count.seconds, run_.log)
            built = builds.seconds[number] if step is run_.steps[0] else 0
            total, before = results.setdefault(step.name, (Count(), 0))
            total.add(count)
            results[step.name] = (total, before + built)
    return results
