"""What the tests of a step have said: counted from the files that meson test writes."""
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0  # of the tests, added up: several run at once
    failures: list = field(default_factory=list)
    skips: list = field(default_factory=list)
    alone: list = field(default_factory=list)  # the commands that run what failed by itself

    def fail(self, what, alone=None):
        self.failed += 1
        self.failures.append(what)
        if alone and alone not in self.alone:
            self.alone.append(alone)

    def skip(self, what):
        self.skipped += 1
        self.skips.append(what)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.seconds += other.seconds
        self.failures += other.failures
        self.skips += other.skips
        self.alone += other.alone


def cases_of(junit):
    """{"fult.<name in meson's log>.<GoogleTest suite>", for TAP without the last: [(name, 'passed' | 'failed' | 'skipped')]}"""
    cases = {}
    if junit.exists():
        # What a test has printed, such as colors, is there as it was, and XML has no control characters.
        text = re.sub('[^\\t\\n\\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]', '', junit.read_text(errors='replace'))
        for suite in ET.fromstring(text.encode()).iter('testsuite'):
            for case in suite.iter('testcase'):
                tags = {child.tag for child in case}
                result = 'failed' if tags & {'failure', 'error'} else 'skipped' if 'skipped' in tags else 'passed'
                cases.setdefault(suite.get('name'), []).append((case.get('name'), result))
    return cases


def count_test(test, cases, directory, count):
    """Adds one test, an object of meson's log, with its cases."""
    name, result = test['name'].rpartition(' / ')[2], test['result']
    failed = result not in ('OK', 'EXPECTEDFAIL', 'SKIP')
    owner = f'fult.{test["name"]}'
    inner = [(suite[len(owner) + 1:] or 'case', *case) for suite, found in cases.items()
             if suite == owner or suite.startswith(owner + '.') for case in found]
    alone = f'meson test -C {directory} -v {name}'
    count.seconds += test.get('duration', 0)
    for suite, case, verdict in inner:
        if verdict == 'passed':
            count.passed += 1
        elif verdict == 'skipped':
            count.skip(f'{name}: {suite}.{case}')
        else:
            # TAP numbers its cases, and has no filter.
            count.fail(f'{name}: {suite}.{case}', alone + (f' --test-args=--gtest_filter={suite}.{case}' if suite != 'case' else ''))
    if failed and not any(verdict == 'failed' for _, _, verdict in inner):
        # It crashed, hung, or a sanitizer reported an error after the last case.
        count.fail(f'{name}: {result.lower()}, exit status {test["returncode"]}', alone)
    elif not inner and result == 'SKIP':
        count.skip(name)
    elif not inner and not failed:
        count.passed += 1


def suites_of(test):
    """The suites of a test in meson's log, which names it "fult:SUITE+SUITE / NAME"."""
    return set(test['name'].rpartition(' / ')[0].partition(':')[2].split('+'))


def count_results(base, directory, counts):
    """Adds up a run of meson test: its log has one JSON object per test, the JUnit file the cases. `counts` has pairs of a step and
    its count; a test counts for the first step that takes its suites."""
    cases = cases_of(base.with_name(base.name + '.junit.xml'))
    for test in map(json.loads, base.with_name(base.name + '.json').read_text().splitlines()):
        suites = suites_of(test)
        for step, count in counts:
            if step.takes(suites):
                count_test(test, cases, directory, count)
                break
