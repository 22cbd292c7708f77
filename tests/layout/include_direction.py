#!/usr/bin/env python3
"""A file of the core includes only files of its own level or a lower one, and what belongs to one file stays there.

The levels are in levels.txt beside this script. usage: include_direction.py ROOT
"""
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
ASM = re.compile(r'\b(?:asm|__asm__|__asm)\b\s*(?:volatile|__volatile__|goto|inline)?\s*\(')
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/', re.S)

# What only one file may use, in headers and sources: a pattern of include, and the files that may.
OWNERS = [
    (re.compile(r'^boost/context/'), {'scheduler/switch'}),
    (re.compile(r'^hwloc'), {'scheduler/topology'}),
    (re.compile(r'^valgrind/'), {'base/sanitizer'}),
    (re.compile(r'^sanitizer/'), {'base/sanitizer'}),
    # for programs, not for the libraries
    (re.compile(r'^tools/'), {'launcher/arguments'}),
    (re.compile(r'^CLI/'), set()),
    (re.compile(r'^nlohmann/'), set()),
]
# What only the task kernel and the scheduler below it may touch, outside of comments.
KERNEL = {'detail/kernel', 'detail/layout'}
FIELDS = [
    (re.compile(r'\brun\.(?:next|end)\b'), KERNEL | {'scheduler/worker'}),
    (re.compile(r'\bready_bytes?(?:_at)?\b'), KERNEL | {'scheduler/ready_set', 'memory/home_memory', 'inspection/debugger'}),
    (re.compile(r'\b(?:stack_limit|row_step)\b'), KERNEL | {'scheduler/switch', 'scheduler/worker', 'scheduler/fairness'}),
    (re.compile(r'(?:->|\.)outer = '), KERNEL | {'detail/group', 'scheduler/switch'}),
    (re.compile(r'->current = '), KERNEL),
]
ASM_OWNERS = {'detail/platform', 'platform', 'base/unwind'}


def read_levels(path):
    levels = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fields = line.split('#')[0].split()
        if not fields:
            continue
        for name in fields[1:]:
            if name in levels:
                sys.exit(f'{path.name}:{number}: {name} is listed twice; keep one level for it')
            levels[name] = int(fields[0])
    return levels


def level_of(name, levels):
    """The level of a name, or of the folder that it lies in; None: it has none."""
    folder = name.rpartition('/')[0] + '/*'
    return levels.get(name, levels.get(folder))


def core_files(root):
    """(file, name in the table) for everything of the libraries, public and private, and of the launcher."""
    for base, prefix in ((root / 'include' / 'fult', ''), (root / 'fult', ''), (root / 'sync', 'sync/'),
                         (root / 'comm', 'comm/'), (root / 'global', 'global/'), (root / 'launcher', 'launcher/'), (root / 'omp', 'omp/'), (root / 'mpi', 'mpi/'),
                         (root / 'mpi' / 'include' / 'fult', '')):
        for path in sorted(base.rglob('*')):
            if path.suffix in ('.hpp', '.cpp', '.h', '.c', '.S'):
                yield path, prefix + path.relative_to(base).with_suffix('').as_posix()


def check(root):
    table = Path(__file__).with_name('levels.txt')
    levels = read_levels(table)
    errors = []
    seen = set()
    count = 0
    for path, name in core_files(root):
        seen.add(name)
        count += 1
        where = path.relative_to(root)
        level = level_of(name, levels)
        seen.add(name.rpartition('/')[0] + '/*')
        if level is None:
            errors.append(f'{where}: {name} has no level; give it one in tests/layout/levels.txt')
            continue
        text = path.read_text()
        for match in INCLUDE.finditer(text):
            target = match.group(1)
            line = text.count('\n', 0, match.start()) + 1
            for pattern, owners in OWNERS:
                if pattern.match(target) and name not in owners:
                    errors.append(f'{where}:{line}: only {", ".join(sorted(owners)) or "programs and tests"} may include <{target}>')
            other = None
            if target.startswith('fult/'):
                other = Path(target[len('fult/'):]).with_suffix('').as_posix()
            elif target.startswith(('comm/', 'global/', 'launcher/')):
                other = Path(target).with_suffix('').as_posix()
            elif (path.parent / target).exists():
                other = Path(name).with_name(target).with_suffix('').as_posix()
            if other is None:
                continue
            below = level_of(other, levels)
            if below is None:
                errors.append(f'{where}:{line}: {other} has no level; give it one in tests/layout/levels.txt')
            elif below > level:
                errors.append(f'{where}:{line}: {name} (level {level}) includes {other} (level {below}); '
                              'includes go downward only')
        code = COMMENT.sub('', text)
        if not name.startswith(('comm/', 'launcher/', 'mpi/')):
            for pattern, owners in FIELDS:
                if name not in owners and (use := pattern.search(code)):
                    errors.append(f'{where}: {use.group()} belongs to include/fult/detail/kernel.hpp: call a function of it')
        if name not in ASM_OWNERS and ASM.search(code):
            errors.append(f'{where}: asm belongs into include/fult/detail/platform.hpp')
    return errors, levels.keys() - seen, count


def main():
    errors, unused, count = check(Path(sys.argv[1]))
    if unused:
        print('note: levels.txt names what does not exist:', *sorted(unused))
    for error in errors:
        print(error)
    if count == 0:
        print('no file found: is the root right?')
    print(f'{count} files, {len(errors)} errors')
    return 1 if errors or count == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
