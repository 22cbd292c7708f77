#!/usr/bin/env python3
"""The words that docs/glossary.md has retired do not come back.

The table "Retired" of the glossary lists words, phrases and identifiers. None of them may occur in the folders below: a phrase
in comments and strings, an identifier anywhere. In tests and benchmarks a phrase may not occur anywhere, also not as a part of
an identifier. To mend what it finds: write the word of the table's second column.

usage: words.py ROOT
       words.py --self-test ROOT    plants each retired word in a file, in each place, and expects that it is found
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Folders and files whose language is clean. Others are added when they are.
CLEAN = ('fult', 'sync', 'comm', 'global', 'launcher', 'omp', 'mpi', 'include/fult', 'tests', 'bench')
SUFFIXES = ('.hpp', '.cpp', '.h', '.c')
# Here identifiers are made of words, in files of every kind.
WHOLE = ('tests', 'bench')
FUNCTIONS = re.compile(r'\bfeed\(')  # of parsers: the ordinary word

TEXT = re.compile(r'''(?P<text>//[^\n]*(?:\n[ \t]*//[^\n]*)*|/\*.*?\*/|"(?:\\.|[^"\\\n])*")|'(?:\\.|[^'\\\n])+'(?<!\d')''', re.S)
BETWEEN = r'(?:\s|//|\*|#)+'  # words of a phrase may be on two lines of a comment


def retired(glossary):
    """{word or phrase: what to write instead} of the table."""
    section = glossary.partition('\n## Retired\n')[2].partition('\n## ')[0]
    rows = [[cell.strip() for cell in line.strip('|').split('|')] for line in section.splitlines() if line.startswith('|')]
    words = {}
    for old, new in rows[2:]:
        for word in old.split(','):
            words[word.strip()] = new
    return words


def pattern(words):
    """One regular expression for all of them, case-insensitive."""
    each = (BETWEEN.join(map(re.escape, word.split())) for word in sorted(words, key=len, reverse=True))
    return re.compile(r'(?<![A-Za-z0-9_])(?:' + '|'.join(each) + r')(?![A-Za-z0-9_])', re.I)


def is_identifier(word):
    return '_' in word


def found(text, prose, names, whole):
    """(line number, word) of each retired word in a source."""
    for match in names.finditer(text):
        yield text.count('\n', 0, match.start()) + 1, match.group()
    if whole:
        text = FUNCTIONS.sub('(', text).replace('_', ' ')
    for part in re.finditer(r'(?P<text>.*)', text, re.S) if whole else TEXT.finditer(text):
        for match in prose.finditer(part.group('text') or ''):
            word = re.sub(BETWEEN, ' ', match.group())
            yield text.count('\n', 0, part.start() + match.start()) + 1, word


def sources(root):
    listed = subprocess.run(['git', 'ls-files', '--cached', '--others', '--exclude-standard', *CLEAN], cwd=root,
                            capture_output=True, text=True)
    names = listed.stdout.split() if listed.returncode == 0 else [
        path.relative_to(root).as_posix() for folder in CLEAN for path in sorted((root / folder).rglob('*'))]
    for name in names:
        path = root / name
        if path.is_file() and (path.suffix in SUFFIXES or name.startswith(WHOLE)) and path.name != Path(__file__).name:
            yield path


def check(root, words):
    names = pattern([w for w in words if is_identifier(w)])
    prose = pattern([w for w in words if not is_identifier(w)])
    lower = {word.lower(): new for word, new in words.items()}
    errors = []
    count = 0
    for path in sources(root):
        count += 1
        whole = path.relative_to(root).parts[0] in WHOLE
        for line, word in found(path.read_text(errors='ignore'), prose, names, whole):
            errors.append(f'{path.relative_to(root)}:{line}: "{word}" is retired: write {lower[word.lower()]}')
    return errors, count


def self_test(words):
    """Each word is found in each place where it may not be, with its line; a clean source is clean."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / 'fult').mkdir()
        source = root / 'fult' / 'planted.cpp'
        clean = '// A worker that steals: unattended, fielding, understands, foretold.\nint whole_ = 1\'000; // "napkin"\n'
        source.write_text(clean)
        if check(root, words)[0]:
            wrong.append(f'a clean source is not clean: {check(root, words)[0]}')
        for word in words:
            planted = [f'// Here {word} is.', f'/* {word.upper()} */', f'const char *text = "x {word} y";',
                       '// Over two lines: ' + word.replace(' ', '\n// ', 1)]
            if is_identifier(word):
                planted.append(f'void {word}();')
            for text in planted:
                source.write_text(clean + text + '\n')
                errors, _ = check(root, words)
                if len(errors) != 1 or not errors[0].startswith('fult/planted.cpp:3: '):
                    wrong.append(f'{text!r}: {errors or "not found"}')
        source.unlink()
        (root / 'tests').mkdir()
        for text in ('TEST(a, that_nobody_joins)', '# Who waits\n', '"""It\nstands."""', "'told'"):
            (root / 'tests' / 'planted.py').write_text(text)
            if len(check(root, words)[0]) != 1:
                wrong.append(f'{text!r} in tests: not found')
    return wrong


def main():
    root = Path(sys.argv[-1])
    words = retired((root / 'docs' / 'glossary.md').read_text())
    if len(words) < 20:
        sys.exit('docs/glossary.md: the table "Retired" is missing or has another form')
    if '--self-test' in sys.argv:
        errors, count = self_test(words), len(words)
    else:
        errors, count = check(root, words)
    for error in errors:
        print(error)
    print(f'{count} {"words" if "--self-test" in sys.argv else "files"}, {len(errors)} errors')
    return 1 if errors or count == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
