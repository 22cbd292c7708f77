#!/usr/bin/env python3
"""Nothing is forgotten or ambiguous: every source and test is built, names and versions agree, files stay readable.

usage: complete.py ROOT
"""
import re
import subprocess
import sys
from pathlib import Path

MAX_LINES = 600


def listed_names(path):
    """Every quoted string of a meson.build."""
    text = re.sub(r'#[^\n]*', '', path.read_text()) if path.exists() else ''
    return set(re.findall(r"'([^'\n]*)'", text))


def sources(root):
    for directory in ('fult', 'sync'):
        names = listed_names(root / directory / 'meson.build')
        for path in sorted((root / directory).rglob('*.cpp')):
            if path.relative_to(root / directory).as_posix() not in names:
                yield f'{path.relative_to(root)} is not built: add it to {directory}/meson.build'
    for directory in ('comm', 'global', 'launcher'):
        names = set().union(*(listed_names(m) for m in (root / directory).rglob('meson.build')))
        for path in sorted((root / directory).rglob('*.cpp')):
            if path.name not in names and path.relative_to(root / directory).as_posix() not in names:
                yield f'{path.relative_to(root)} is not built: add it to a meson.build below {directory}/'


def tests(root):
    for directory in ('fult', 'sync', 'loops', 'stress', 'random', 'regression', 'hpccg', 'barnes_hut', 'bfs', 'dt',
                      'monte_carlo', 'sptrsv', 'migration'):
        own = root / 'tests' / directory / 'meson.build'
        names = listed_names(own if own.exists() else root / 'tests' / 'meson.build')
        for path in sorted((root / 'tests' / directory).rglob('*')):
            if path.suffix not in ('.cpp', '.c') or path.stem == 'main':
                continue
            where = path.relative_to(root)
            inside = path.relative_to(root / 'tests' / directory)
            name = inside.with_name(path.stem.removesuffix('_test')).as_posix()
            if not path.stem.endswith('_test'):
                # a helper of the tests; it must be named where it is used
                if path.name not in names and f'{directory}/{inside}' not in names:
                    yield f'{where} is not built: name a test NAME_test.cpp, a helper in tests/meson.build'
            elif names.isdisjoint({name, f'{directory}/{name}', path.name, f'{directory}/{inside}'}):
                yield f'{where} never runs: add its name to tests/meson.build'


def comm_tests(root):
    for folder in sorted(p for p in [*(root / 'tests' / 'comm').iterdir(), root / 'tests' / 'global', root / 'tests' / 'launcher'] if p.is_dir()):
        names = listed_names(folder / 'meson.build') | {Path(name).name for name in listed_names(folder.parent / 'meson.build')}
        for path in sorted(folder.glob('*')):
            stem = path.stem.removesuffix('_test')
            if path.suffix in ('.cpp', '.c') and path.name not in names and stem not in names:
                yield f'{path.relative_to(root)} is not built: add it to the meson.build beside it'


def unambiguous(root):
    public = {p.relative_to(root / 'include').as_posix() for p in (root / 'include').rglob('*.hpp')}
    private = {p.relative_to(root).as_posix() for base in ('fult', 'sync', 'comm', 'global', 'launcher') for p in (root / base).rglob('*.hpp')}
    for name in sorted(public & private):
        yield f'{name} is both a public and a private header: an #include may find either, rename one'


def versions(root):
    """The version is defined in include/fult/version.hpp; the files that repeat it have the same one."""
    version = subprocess.run([root / 'tools' / 'version'], capture_output=True, text=True).stdout.strip()
    if not re.fullmatch(r'\d+\.\d+\.\d+', version):
        yield f'tools/version finds no version in include/fult/version.hpp, but {version!r}'
    for name, pattern in (('CHANGELOG.md', r'^## ([0-9.]+)'), ('debian/changelog', r'^fult \(([0-9.]+)-')):
        found = re.search(pattern, (root / name).read_text(), re.MULTILINE)
        if not found or found.group(1) != version:
            yield f'{name} begins with version {found and found.group(1)}, include/fult/version.hpp says {version}'


def sizes(root):
    for directory in ('include', 'fult', 'sync', 'comm', 'global', 'launcher', 'omp', 'mpi', 'apps', 'tests', 'bench', 'tools', 'examples'):
        for path in sorted((root / directory).rglob('*')):
            if path.suffix in ('.hpp', '.cpp', '.h', '.c', '.py', '.pml'):
                lines = path.read_text().count('\n')
                if lines > MAX_LINES:
                    yield f'{path.relative_to(root)} has {lines} lines, more than {MAX_LINES}: split it by concept'


def anchors(page):
    """What a link to a heading of a page may name, as GitHub and cgit make it."""
    titles = re.findall(r'^#+ (.*)$', page.read_text(), re.M)
    return {re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-') for title in titles}


def links(root):
    """Links between the pages lead somewhere."""
    for page in [*root.glob('*.md'), *(root / 'docs').glob('*.md')]:
        prose = re.sub(r'```.*?```|`[^`\n]*`', '', page.read_text(), flags=re.S)
        for target, anchor in re.findall(r'\]\(((?!\w+:)[^)#\s]*)#?([^)\s]*)\)', prose):
            there = page.parent / target if target else page
            if not there.exists():
                yield f'{page.relative_to(root)} links to {target}, which does not exist'
            elif anchor and anchor not in anchors(there):
                yield f'{page.relative_to(root)} links to {target}#{anchor}, and there is no such heading'


def headers(root):
    for base in ('include', 'fult', 'sync', 'comm', 'global', 'launcher', 'omp', 'mpi', 'apps', 'tests', 'bench'):
        for path in sorted((root / base).rglob('*.hpp')):
            # A header that is only precompiled is a main file, in which g++ warns of it.
            if path.name != 'precompiled.hpp' and '#pragma once' not in path.read_text():
                yield f'{path.relative_to(root)} lacks #pragma once'


LEFTOVER = re.compile(r'.*\.(?:log|o|a|so(?:\.[\d.]+)?|d|gcda|gcno|profraw|trail|orig|rej|swp|pyc)'
                      r'|core(?:\.\d+)?|vgcore\.\d+|a\.out|(?:callgrind|cachegrind|massif)\.out.*|perf\.data.*')


def leftovers(root):
    """What compilers, debuggers and profilers leave is not in the repository."""
    listing = subprocess.run(['git', '-C', root, 'ls-files'], capture_output=True, text=True)
    for name in listing.stdout.splitlines():  # none where the source is not a repository
        if LEFTOVER.fullmatch(Path(name).name):
            yield f'{name} belongs to a build or a run: remove it from the repository'


def main():
    root = Path(sys.argv[1])
    errors = [e for rule in (sources, tests, comm_tests, unambiguous, versions, sizes, links, headers, leftovers) for e in rule(root)]
    for error in errors:
        print(error)
    print(f'{len(errors)} errors')
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
