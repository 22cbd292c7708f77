#!/usr/bin/env python3
"""Each row of a migration guide is compiled and run. usage: rows_test.py GUIDE.md TEST.cpp [TEST.c]

A row is `| name | call of the other library | FULT | note |`, with one FULT column per test file. The test of that name, TEST(...,
name) or ROW(name), must contain each piece of code of its column, apart from white space; and each test must have a row.
"""
import re
import sys
from pathlib import Path


def squeezed(text):
    return re.sub(r'\s+', '', text)


def rows_of(guide):
    for line in guide.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
        if line.startswith('|') and cells[0] != 'row' and not set(cells[0]) <= set('-: '):
            yield cells


def tests_of(source):
    text = source.read_text()
    starts = list(re.finditer(r'^(?:TEST\(\w+,\s*|ROW\()(\w+)\)', text, re.M))
    ends = [match.start() for match in starts[1:]] + [len(text)]
    return [(match.group(1), squeezed(text[match.start():end])) for match, end in zip(starts, ends)]


def errors_of(guide, sources):
    rows = list(rows_of(guide))
    names = [row[0] for row in rows]
    if not rows:
        yield f'{guide.name} has no rows'
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f'{guide.name}: two rows are called {name}'
    wanted = 3 + len(sources)
    whole = [row for row in rows if len(row) == wanted]
    for row in rows:
        if len(row) != wanted:
            yield f'{guide.name}: row {row[0]} has {len(row)} cells, not {wanted}'
    for column, source in enumerate(sources, 2):
        tests = tests_of(source)
        bodies = dict(tests)
        for row in whole:
            name, ours = row[0], row[column]
            if name not in bodies:
                yield f'{source.name} has no test {name}, which a row of {guide.name} needs'
                continue
            pieces = re.findall(r'`([^`]+)`', ours)
            if not pieces:
                yield f'{guide.name}: row {name} shows no code of ours for {source.name}'
            for piece in pieces:
                if squeezed(piece) not in bodies[name]:
                    yield f'{source.name}: the test {name} does not hold `{piece}`'
        for name, _ in tests:
            if name not in names:
                yield f'{guide.name} has no row {name}, for which {source.name} has a test'


def main():
    guide, *sources = map(Path, sys.argv[1:])
    errors = list(errors_of(guide, sources))
    print('\n'.join(errors))
    print(f'{len(list(rows_of(guide)))} rows, {len(errors)} errors')
    return 1 if errors or not sources else 0


if __name__ == '__main__':
    sys.exit(main())
