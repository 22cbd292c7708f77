#!/usr/bin/env python3
"""Documents name what exists: each path in backticks is a file or folder, and each identifier with an underscore or `::` occurs
in the sources. Links between documents lead to a file, and to a heading of it. In the tables of docs/life-of-*.md, each function
occurs in the file beside it, and a reader changes the file at most 20 times in a table.

usage: documents.py ROOT
       documents.py --self-test ROOT    documents with a wrong path, identifier, link, heading and step, each of which must be found
"""
import re
import subprocess
import sys
from pathlib import Path

SOURCES = ('fult', 'sync', 'comm', 'global', 'launcher', 'omp', 'mpi', 'include', 'tests', 'bench', 'tools', 'examples', 'apps', 'packaging', 'debian')
# Names of others: of their libraries, by how these begin, and some words. A name that begins or ends with _ is a part of one.
ELSEWHERE = ('MPI_', 'FI_', 'OMP_', 'QT_', 'qt_', 'qthread', 'ABT_', 'omp_', 'pthread_', 'std::', 'tbb::', 'boost::')
OTHERS = {'snake_case', 'co_await', 'in_reduction', 'callgrind_annotate'}
PATH = re.compile(r'`((?:include|fult|sync|comm|global|launcher|tests|bench|tools|apps|examples|docs|packaging|debian)/[\w.+/-]+)`')
IDENTIFIER = re.compile(r'`([A-Za-z_]\w*(?:::~?\w+)*)(?:\(\))?`')
LINK = re.compile(r'\]\(([^)#\s]*)(?:#([^)\s]*))?\)')
STEP = re.compile(r'^\| \d+ \|.*\| (.*?) \|$')
FILE = re.compile(r'[\w/-]+\.(?:cpp|hpp)')
MOST_JUMPS = 20
HEADING = re.compile(r'^#+ +(.*?)\s*$', re.M)


def anchor(heading):
    """As GitHub makes it."""
    return re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')


def is_checked(identifier):
    return (('_' in identifier or '::' in identifier) and identifier not in OTHERS and
            not identifier.startswith(('_', *ELSEWHERE)) and not identifier.endswith('_'))


def prose(text):
    """Without code blocks, which are tested as programs or show output."""
    return re.sub(r'^```.*?^```', lambda block: '\n' * block.group().count('\n'), text, flags=re.M | re.S)


def problems(root, document, text, words):
    for number, line in enumerate(prose(text).splitlines(), 1):
        for path in PATH.findall(line):
            if 'NAME' not in path and not (root / path).exists() and not (root / 'include' / path).exists():
                yield number, f'there is no {path}'
        for name in IDENTIFIER.findall(line):
            if is_checked(name) and not all(part.strip('~') in words for part in name.split('::')):
                yield number, f'no source has the identifier {name}'
        for path, heading in LINK.findall(line):
            target = (document.parent / path).resolve() if path else document
            if '://' in path or path.startswith('mailto:'):
                continue
            if not target.exists():
                yield number, f'the link leads to {path}, which does not exist'
            elif heading and target.suffix == '.md' and heading not in map(anchor, HEADING.findall(target.read_text())):
                yield number, f'{path or document.name} has no heading #{heading}'


def full_path(root, name, seen):
    """A path from the root. A name without a folder is the file of that name that was mentioned before."""
    before = [path for path in seen if path.endswith('/' + name)]
    return before[-1] if before else name if (root / name).exists() else None


def walk_problems(root, text):
    """The tables of steps: (line, problem). A cell is `function`, `function` in `file`, ...; without a file it is the last one."""
    seen, jumps, contents = [], 0, {}
    for number, line in enumerate(text.splitlines(), 1):
        cell = STEP.match(line)
        if not cell:
            seen, jumps = ([], 0) if not line.startswith('|') else (seen, jumps)
            continue
        functions = []
        for name in [*re.findall(r'`([^`]+)`', cell[1]), None]:
            if name and not FILE.fullmatch(name):
                functions.append(name)
                continue
            path = full_path(root, name, seen) if name else seen[-1] if seen else None
            if not path:
                yield number, f'there is no {name}'
                continue
            jumps += bool(seen) and path != seen[-1]
            seen.append(path)
            words = contents.setdefault(path, set(re.findall(r'\w+', (root / path).read_text())))
            for function in functions:
                if function.split('::')[-1].strip('~') not in words:
                    yield number, f'{function} is not in {path}'
            functions = []
            if jumps > MOST_JUMPS:
                yield number, f'the {jumps}th change of the file in this table: bring functions together that follow each other'


def words_of(root):
    listed = subprocess.run(['git', 'ls-files', *SOURCES], cwd=root, capture_output=True, text=True).stdout.split()
    files = [root / name for name in listed] or [path for folder in SOURCES for path in (root / folder).rglob('*')]
    words = set()
    for path in files:
        if path.is_file() and path.suffix != '.md' and path.name != Path(__file__).name:
            words.update(re.findall(r'\w+', path.read_text(errors='ignore')))
    return words


def check(root):
    words = words_of(root)
    documents = [path for pattern in ('*.md', 'docs/*.md', '*/README.md', '*/*/README.md', '*/*/*/README.md')
                 for path in sorted(root.glob(pattern))
                 if not path.relative_to(root).parts[0].startswith('build') and path.name != 'glossary.md']  # names of all the field
    count = 0
    for document in documents:
        found = list(problems(root, document, document.read_text(), words))
        if document.name.startswith('life-of-'):
            found += walk_problems(root, document.read_text())
        for number, problem in found:
            print(f'{document.relative_to(root)}:{number}: {problem}')
            count += 1
    print(f'{len(documents)} documents, {count} errors')
    return 1 if count or not documents else 0


def self_test(root):
    words = words_of(root)
    document = root / 'docs' / 'scheduler.md'
    missed = [text for text in ('`fult/no_such.cpp`', '`no_such_name`', '`worker::no_such_name`', '[a](no_such.md)',
                                '[a](groups.md#no-such-heading)')
              if not list(problems(root, document, text, words))]
    wrong = list(problems(root, document, '`fult/scheduler/worker.cpp`, `idling::park`, [a](groups.md)', words))
    step = '| 1 | text | `%s` in `%s` |\n'
    right = step % ('fatal', 'fult/base/check.cpp') + step % ('spin_lock::lock_slow', 'fult/base/spin_lock.cpp')
    wrong += walk_problems(root, right * 10)
    missed += [text for text in (step % ('no_such', 'fult/base/check.cpp'), step % ('fatal', 'no_such.cpp'), right * 11)
               if not list(walk_problems(root, text))]
    print(f'not found: {missed}; found in what is right: {wrong}')
    return 1 if missed or wrong else 0


if __name__ == '__main__':
    arguments = sys.argv[1:]
    where = Path(arguments[-1]).resolve()
    sys.exit(self_test(where) if arguments[0] == '--self-test' else check(where))
