#!/usr/bin/env python3
"""No cycle of includes: neither between files, nor between folders.

A folder includes another one if any file of it does. cycles.txt beside this script lists, as `FROM -> TO`, those includes between
folders that may stay: without them no cycle is left, and each of them is part of one. To mend what
this finds: move what lies in the wrong folder, or let the lower one declare what the upper one implements.

usage: cycles.py ROOT
       cycles.py --self-test    plants cycles, and expects that they are found
"""
import re
import sys
import tempfile
from pathlib import Path

FOLDERS = ('include/fult', 'fult', 'sync', 'comm', 'global', 'launcher', 'omp', 'mpi')
SUFFIXES = ('.hpp', '.cpp', '.h', '.c', '.S')
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def includes(root):
    """{file: {file that it includes: line}}, as paths below root."""
    files = {path.relative_to(root).as_posix() for folder in FOLDERS for path in (root / folder).rglob('*') if path.suffix in SUFFIXES}
    graph = {}
    for name in sorted(files):
        text = (root / name).read_text()
        targets = graph[name] = {}
        for match in INCLUDE.finditer(text):
            target = match.group(2)
            beside = [name.rpartition('/')[0] + '/' + target, target] if match.group(1) == '"' else []
            for target in [*beside, 'include/' + target]:
                if target in files:
                    targets[target] = text.count('\n', 0, match.start()) + 1
                    break
    return graph


def between_folders(graph):
    """{folder: {folder that it includes: 'FILE:LINE includes FILE'}}."""
    folders = {}
    for name, targets in graph.items():
        folder = name.rpartition('/')[0]
        for target, line in targets.items():
            if (other := target.rpartition('/')[0]) != folder:
                folders.setdefault(folder, {}).setdefault(other, f'{name}:{line} includes {target}')
    return folders


def path(graph, start, end):
    """A shortest list of nodes from start to end; None: there is none."""
    reached = {start: None}
    queue = [start]
    for node in queue:
        for target in graph.get(node, ()):
            if target not in reached:
                reached[target] = node
                queue.append(target)
    if end not in reached:
        return None
    nodes = [end]
    while nodes[-1] != start:
        nodes.append(reached[nodes[-1]])
    return nodes[::-1]


def cycles(graph):
    """One cycle through each edge that has one, as lists of nodes; each set of nodes once."""
    found = {}
    for start, targets in graph.items():
        for target in targets:
            if way := path(graph, target, start):
                found.setdefault(frozenset(way), [start, *way])
    return [found[key] for key in sorted(found, key=sorted)]


def check(root, allowed):
    """Errors, and the number of files. allowed: {(from, to): line in the list}, to go from the folders' includes."""
    graph = includes(root)
    errors = ['cycle of files: ' + ' -> '.join(each) for each in cycles(graph)]
    folders = between_folders(graph)
    rest = {folder: {to: why for to, why in targets.items() if (folder, to) not in allowed} for folder, targets in folders.items()}
    for each in cycles(rest):
        errors.append('cycle of folders: ' + ' -> '.join(each))
        errors += [f'    {rest[a][b]}' for a, b in zip(each, each[1:])]
    for (folder, to), line in allowed.items():
        if to not in folders.get(folder, {}):
            errors.append(f'cycles.txt:{line}: {folder} no longer includes {to}; remove the line')
        elif not path(rest, to, folder):
            errors.append(f'cycles.txt:{line}: {folder} -> {to} is part of no cycle any more; remove the line')
    return errors, len(graph)


def read_allowed(text):
    allowed = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line := line.split('#')[0].strip():
            folder, _, to = line.partition(' -> ')
            allowed[folder, to] = number
    return allowed


def self_test():
    sources = {'comm/a/one.hpp': 'comm/b/two.hpp', 'comm/b/two.hpp': 'fult/own.hpp', 'include/fult/own.hpp': '', 'comm/b/b.cpp': 'two.hpp'}
    cases = [
        ({}, '', None),
        ({'include/fult/own.hpp': 'comm/a/one.hpp'}, '', 'cycle of files: comm/a/one.hpp -> comm/b/two.hpp -> include/fult/own.hpp'),
        ({'comm/b/b.cpp': 'comm/a/one.hpp'}, '', 'cycle of folders: comm/a -> comm/b -> comm/a'),
        ({'comm/b/b.cpp': 'comm/a/one.hpp'}, 'comm/b -> comm/a # still', None),
        ({}, 'comm/b -> comm/a', 'cycles.txt:1: comm/b no longer includes comm/a'),
        ({}, '# to go\ncomm/a -> comm/b', 'cycles.txt:2: comm/a -> comm/b is part of no cycle'),
    ]
    wrong = []
    for changed, allowed, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            for name, target in {**sources, **changed}.items():
                source = Path(folder) / name
                source.parent.mkdir(parents=True, exist_ok=True)
                source.write_text(f'#include "{target}"\n')
            errors, _ = check(Path(folder), read_allowed(allowed))
            if expected is None and errors or expected and not any(error.startswith(expected) for error in errors):
                wrong.append(f'{changed} with {allowed!r}: {errors}, not {expected!r}')
    return wrong, len(cases)


def main():
    if '--self-test' in sys.argv:
        errors, count = self_test()
    else:
        errors, count = check(Path(sys.argv[1]), read_allowed(Path(__file__).with_name('cycles.txt').read_text()))
    for error in errors:
        print(error)
    print(f'{count} {"cases" if "--self-test" in sys.argv else "files"}, {len(errors)} errors')
    return 1 if errors or count == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
