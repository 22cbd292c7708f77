#!/usr/bin/env python3
"""What must hold is stated where it must: each folder of the library has an assertion per so many lines.

Counted are FULT_ASSERT and static_assert; lines are those of headers and sources, with their comments.

usage: assertions.py ROOT
"""
import re
import sys
from pathlib import Path

MOST_LINES = 100  # per assertion
FOLDERS = ('fult', 'sync', 'comm', 'global', 'omp', 'mpi')
ASSERTION = re.compile(r'\b(?:FULT_ASSERT|static_assert)\s*\(')
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/', re.S)


def count(folder):
    """Lines and assertions below a folder."""
    texts = [path.read_text() for path in sorted(folder.rglob('*')) if path.suffix in ('.hpp', '.cpp', '.h')]
    return sum(text.count('\n') for text in texts), sum(len(ASSERTION.findall(COMMENT.sub('', text))) for text in texts)


def complaints(root):
    for name in FOLDERS:
        lines, assertions = count(root / name)
        if assertions * MOST_LINES < lines:
            yield f'{name}/ has {assertions} assertions in {lines} lines: state {-(-lines // MOST_LINES) - assertions} more'
    for path in sorted(p for name in FOLDERS for p in (root / name).rglob('*.?pp')):
        if re.search(r'(?<![\w:])assert\s*\(|#\s*include\s*<cassert>', COMMENT.sub('', path.read_text())):
            yield f'{path.relative_to(root)} uses assert: write FULT_ASSERT, which names the task'


def main():
    found = list(complaints(Path(sys.argv[1])))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
