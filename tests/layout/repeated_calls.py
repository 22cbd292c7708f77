#!/usr/bin/env python3
"""Each public call that a task may repeat without end lets others run, or a reason exempts it.

The calls are the public functions of the reference: what Doxygen reads in the headers, without internals. repeated_calls.txt decides each,
once. A paragraph begins with a line of one of two forms, and lists calls, separated by white space:

  kind NAME:         TESTS test them: in the function, table, class or test NAME the name of each call occurs
  exempt: REASON     they are not tested, for this reason

A call of a class that derives from another one is that of the class which declares it. Special members are not listed: constructors,
assignments, destructors and conversions; each makes or ends an object.

usage: repeated_calls.py ROOT DOXYGEN
       repeated_calls.py --self-test
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

LIST = Path(__file__).with_suffix('.txt')
TESTS = ('tests/fult/scheduler/*_test.cpp', 'tests/comm/conformance/repeated_calls_test.cpp')
HEADING = re.compile(r'kind (\w+):|exempt: (\S.*)')


def is_special(name):
    *scope, last = name.split('::')
    return bool(scope) and (last == scope[-1] or last.startswith(('~', 'operator')))


def public_calls(folder):
    """The names of functions in Doxygen's XML files."""
    for path in folder.glob('*.xml'):
        for compound in ElementTree.parse(path).getroot().iter('compounddef'):
            for member in compound.iter('memberdef'):
                name = member.findtext('qualifiedname') or member.findtext('name')
                if member.get('kind') == 'function' and member.get('prot') == 'public' and not is_special(name):
                    yield name


def read_headers(root, doxygen):
    with tempfile.TemporaryDirectory(prefix='fult-calls-') as scratch:
        settings = (root / 'docs' / 'Doxyfile.in').read_text()
        for name, value in {'ROOT': root, 'OUTPUT': scratch, 'VERSION': '-'}.items():
            settings = settings.replace(f'@{name}@', str(value))
        own = Path(scratch) / 'Doxyfile'
        own.write_text(f'{settings}\nGENERATE_HTML = NO\nGENERATE_XML = YES\nXML_PROGRAMLISTING = NO\n')
        subprocess.run([doxygen, '-q', own], check=True)
        return set(public_calls(Path(scratch) / 'xml'))


def paragraphs(text):
    """(kind or None, reason or None, calls)"""
    for block in re.split(r'\n\s*\n', re.sub(r'(?m)^#.*\n?', '', text)):
        lines = block.strip().splitlines()
        if lines:
            heading = HEADING.fullmatch(lines[0].strip())
            yield (*(heading.groups() if heading else (None, None)), ' '.join(lines[1:]).split())


def text_of_kind(name, sources):
    """All blocks at the beginning of a line in whose first line the name occurs, up to the closing brace at the beginning of a line."""
    found = re.findall(rf'^(?=\w)[^\n]*\b{name}\b[^\n]*(?:\}}$|(?:\n(?!\}}).*)*\n\}})', sources, re.M)
    return '\n'.join(found)


def problems(calls, text, sources):
    decided = set()
    for kind, reason, listed in paragraphs(text):
        if not kind and not reason:
            yield f'a paragraph begins with neither "kind NAME:" nor "exempt: REASON": {" ".join(listed)}'
        body = text_of_kind(kind, sources) if kind else ''
        if kind and not body:
            yield f'there is no kind {kind} in {" ".join(TESTS)}'
        for call in listed:
            if call in decided:
                yield f'{call} is listed twice'
            elif call not in calls:
                yield f'{call} is listed, and no header declares it'
            elif body and not re.search(rf'\b{call.split("::")[-1]}\b', body):
                yield f'{call} is not called in {kind}'
            decided.add(call)
    for call in sorted(calls - decided):
        yield (f'{call} is not decided: if a task can repeat it without end, add it to a kind of a repeated_calls_test.cpp '
               f'and to tests/layout/{LIST.name}; if not, add it there with the reason')


def check(root, doxygen):
    sources = '\n'.join(path.read_text() for path in sorted(path for each in TESTS for path in root.glob(each)))
    calls = read_headers(root, doxygen)
    found = list(problems(calls, LIST.read_text(), sources))
    print('\n'.join(found))
    print(f'{len(calls)} public calls, {len(found)} errors')
    return 1 if found or not calls else 0


def self_test():
    sources = 'void first() {\n    one();\n}\nvoid second() { two(); }\nTEST(name, third) {\n    a.three();\n}\n'
    right = 'kind first:\n    one\n\nkind second:\n    two\n\n# why\nexempt: a reason\n    a::b::four\n\nkind third:\n    a::three\n'
    calls = {'one', 'two', 'a::three', 'a::b::four'}
    wrong = list(problems(calls, right, sources))
    missed = [why for why, given in {
        'not decided': (calls | {'five'}, right), 'no header': (calls - {'one'}, right), 'twice': (calls, right + ' one'),
        'no kind': (calls, right.replace('first', 'fourth')), 'not called': (calls, right.replace('second', 'first')),
        'neither': (calls, right.replace('exempt: a reason', 'exempt:'))}.items() if not any(why in p for p in problems(*given, sources))]
    special = [name for name in ('a::a', 'a::~a', 'a::operator bool') if not is_special(name)]
    print(f'not found: {missed}; found in what is right: {wrong}; taken for ordinary: {special}')
    return 1 if missed or wrong or special or is_special('a') else 0


if __name__ == '__main__':
    sys.exit(self_test() if sys.argv[1] == '--self-test' else check(Path(sys.argv[1]).resolve(), sys.argv[2]))
