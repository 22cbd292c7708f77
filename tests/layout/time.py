#!/usr/bin/env python3
"""Tests are decided by the code: a sleep, a clock, a time bound or a seed from outside has a marker that states why it cannot fail.

The marker is a comment at the end of the line, or alone on the line above: `time: ` and one of MARKERS, which CONTRIBUTING.md
explains. Files of the suite `timed` (NAME_timed_test.*) need none. Programs that can run for a time do so in the suites of
FOR_A_TIME alone.

usage: time.py ROOT
       time.py --self-test    lines that must be found, and others that must not
"""
import re
import sys
from pathlib import Path

MARKERS = ('either order is right', 'a lower bound', 'given, never reached', 'between polls', 'measured, not judged')
FOLDERS = ('tests', 'examples')
# They have a clock for `--seconds`.
RUN_FOR_A_TIME = ('tests/inspect/soak.cpp', 'tests/omp/random_tasks.cpp', 'tests/random/main.cpp')
FOR_A_TIME = ('fresh', 'soak', 'timed')

UNITS = r'(?:nano|micro|milli)?seconds|minutes|hours'
C = re.compile(
    r'\b(?:u|nano|clock_nano)sleep\s*\(|::sleep\s*\(|\bsleep\s*\(\s*\d|\bsleep_(?:for|until)\s*\((?!(?:[^,()]+(?:\(\))?,\s*)?(?:\s*(?:-|0\b|0ns|long_time)|[\w:]+::(?:min|max)\(\)))'
    r'|\bfult_\w+_for\s*\((?=.*(?<![-\d])[1-9]\d*\))'
    r'|\bfult_\w*timed\w*\s*\((?=.*(?<![-\d])[1-9]\d*\))|::now\s*\(|\bclock_gettime\b|\bgettimeofday\b|\bgetrusage\b|\btimes\s*\(|\bomp_get_wtime\b'
    r'|(?<![\w.>])(?:std::)?time\s*\(\s*(?:NULL|nullptr|0|&)|\bu?alarm\s*\(|\bsetitimer\b|\btimer_create\b|\btimerfd\w*|\brandom_device\b'
    rf'|(?<!-)\b(?!0[num]?s\b)\d[\d\']*(?:\.\d+)?(?:ns|us|ms|s|min|h)\b|\b(?:{UNITS})\s*[({{](?!\s*(?:0\s*)?[)}}])')
PYTHON = re.compile(r'\btime\.(?:sleep|time|monotonic|perf_counter|process_time)\b|\btimeout\s*=|\bsettimeout\b|\bsignal\.(?:alarm|setitimer)\b'
                    r'|\bgetrusage\b|\brandom\.(?:random|rand\w+|choice|shuffle|sample|seed\(\))|\bSystemRandom\b|\burandom\b')
SHELL = re.compile(r'(?<![-\w])(?:sleep|timeout)\s+[\d$"]|\$RANDOM\b|\bSECONDS\b')
FORTRAN = re.compile(r'\b(?:omp_get_wtime|cpu_time|system_clock|date_and_time|random_seed|sleep)\b', re.I)
LANGUAGES = {'.c': C, '.h': C, '.cpp': C, '.hpp': C, '.py': PYTHON, '.sh': SHELL, '.f90': FORTRAN}

MARKER = re.compile(r'(?://|#|!|/\*) time: (.*?)(?: \*/)?$')
C_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|(?<!include )"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])\'', re.S)


def without_comments(text, suffix):
    """The code alone, with the same lines. Strings stay in scripts, which run what they hold."""
    if LANGUAGES[suffix] is C:
        return C_NOISE.sub(lambda match: ' ' + '\n' * match.group().count('\n'), text)
    return re.sub(r'(?m)!.*$' if suffix == '.f90' else r'(?m)(?:^|(?<=\s))#.*$', '', text)


def errors_of(text, suffix):
    """(line, what is wrong) of a file."""
    lines = text.splitlines()
    for number, (line, code) in enumerate(zip(lines, without_comments(text, suffix).splitlines() + [''] * len(lines)), 1):
        marked = MARKER.search(line)
        if marked and marked.group(1) not in MARKERS:
            yield number, f'no marker is called {marked.group(1)!r}; there are: {", ".join(MARKERS)}'
        found = LANGUAGES[suffix].search(code)
        above = MARKER.fullmatch(lines[number - 2].strip()) if number > 1 else None
        if found and not marked and not above:
            yield number, f'{found.group().strip()} depends on time or luck: wait for what happens, or add a marker (CONTRIBUTING.md)'


def calls(text):
    """The text of each call of test() in a meson.build."""
    for match in re.finditer(r'\btest\(', text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {'(': 1, ')': -1}.get(text[end], 0)
            end += 1
        yield match.start(), text[match.start():end]


def errors_of_build(text):
    """Tests that run for a time outside of the suites for that."""
    for start, call in calls(re.sub(r'#.*', '', text)):
        if "'--seconds'" in call and not any(f"'{suite}'" in call for suite in FOR_A_TIME):
            yield text.count('\n', 0, start) + 1, f'a test runs for a time, outside of the suites {", ".join(FOR_A_TIME)}'


def is_checked(name):
    return not (name in RUN_FOR_A_TIME or name == 'tests/layout/time.py' or re.search(r'_timed_test\.\w+$', name))


def check(root):
    count = errors = 0
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob('*') if path.is_file()):
        name = path.relative_to(root).as_posix()
        if not is_checked(name):
            continue
        if path.name == 'meson.build':
            found = list(errors_of_build(path.read_text()))
        elif path.suffix in LANGUAGES:
            found = list(errors_of(path.read_text(), path.suffix))
        else:
            continue
        count += 1
        errors += len(found)
        for line, what in found:
            print(f'{name}:{line}: {what}')
    print(f'{count} files, {errors} errors')
    return 1 if errors or count == 0 else 0


WRONG = {
    '.cpp': ('std::this_thread::sleep_for(pause);', 'sleep_for(stop, pause);', 'this_task::sleep_until(t);', '::usleep(5);', 'nanosleep(&t, NULL);', 'sleep(1);', '::sleep(n);',
             'const auto end = std::chrono::steady_clock::now();', 'while (steady::now() < end)', '::clock_gettime(CLOCK_MONOTONIC, &t);',
             'getrusage(RUSAGE_SELF, &used);', '::alarm(20);', 'ualarm(5, 0);', 'std::random_device source;', 'std::mt19937 random(std::time(nullptr));',
             'srand(time(NULL));', 'event.wait_for(5ms);', 'event.wait_for(1min);', 'constexpr auto limit = std::chrono::seconds(5);',
             'wait_for(milliseconds{1});', 'wait_for(std::chrono::hours(n));', 'fult_sleep_for(1000);', 'fult_event_timedwait(event, 1000);',
             'const double from = omp_get_wtime();', 'event.wait_for(5ms); // a lower bound', '// time: soon\nwait();', 'wait(); // time: a lower bound, mostly',
             '// time: a lower bound\nwait();\nsleep(1);'),
    '.py': ('time.sleep(1)', 'subprocess.run(x, timeout=5)', 'end = time.monotonic() + 5', 'os.urandom(4)', "run('python3', '-c', 'time.sleep(1)')",
            'random.shuffle(all)'),
    '.sh': ('sleep 1', 'timeout 5 program', 'timeout "$limit" program', 'seed=$RANDOM'),
    '.f90': ('from = omp_get_wtime()', 'call system_clock(n)'),
}
RIGHT = {
    '.cpp': ('event.wait_for(limit);', 'event.wait_for(0s);', 'event.wait_for(std::chrono::seconds(0));', '// sleep_for(5ms)', 'expect("5ms ::now()");',
             'wait_for(5ms); // time: a lower bound', '    // time: between polls\n    sleep_for(pause);', 'sleep(1); /* time: either order is right */',
             'std::chrono::nanoseconds::max()', 'time_point::min()', 'timer.clock();', 'void sleep(actor &a);', 'this_task::sleep_for(-1h);', 'sleep_until(stop, clock::time_point::max());', 'sleep_for(source.get_token(), long_time);', 'this_task::sleep_for(0ns);', 'fult_event_timedwait(event, 0);',
             'a = 0x5s;', 'runtime(workers(2));', 'asleep(1);', 'fult_event_timedwait(event, -1);', 'std::chrono::hours hours{};'),
    '.py': ('run()  # time.sleep(1)', 'time.sleep(0.1)  # time: between polls', 'lifetime = 5'),
    '.sh': ('sleep 1 # time: between polls', '# sleep 1', 'asleep 1'),
    '.f90': ('if (omp_get_wtime() > 0d0) ! time: a lower bound', '! sleep'),
}
WRONG_BUILD = ("test('a', b, args: ['--seconds', '3'], suite: 'random')",)
RIGHT_BUILD = ("test('a', b, args: ['--seconds', '3'],\n  env: f(x), suite: 'fresh')", "test('a', b, suite: 'random')")


def self_test():
    cases = [(errors_of(text, suffix), text, wanted) for wanted, texts in ((True, WRONG), (False, RIGHT)) for suffix in texts for text in texts[suffix]]
    cases += [(errors_of_build(text), text, wanted) for wanted, texts in ((True, WRONG_BUILD), (False, RIGHT_BUILD)) for text in texts]
    wrong = [text for found, text, wanted in cases if bool(list(found)) != wanted]
    for text in wrong:
        print(f'judged wrongly: {text}')
    print(f'{len(cases)} texts, {len(wrong)} errors')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(self_test() if sys.argv[1] == '--self-test' else check(Path(sys.argv[1]).resolve()))
