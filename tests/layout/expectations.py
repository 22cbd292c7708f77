#!/usr/bin/env python3
"""Each test expects something: a GoogleTest body has an EXPECT_, ASSERT_ or the like, or calls a helper that has one.

A helper is a function, a named lambda, a member function or a macro of the same file, of a header below tests/ that the file
includes, or of the source beside that header. A test that can fail only by hanging uses expect_ends (tests/support/ends.hpp).

usage: expectations.py ROOT
       expectations.py --self-test    bodies without an expectation, which must be found, and others, which must not
"""
import re
import sys
from pathlib import Path

TEST = re.compile(r'^[ \t]*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)\s*(?=\{)', re.M)
EXPECTS = re.compile(r'\b(?:EXPECT_\w+|ASSERT_\w+|FAIL|ADD_FAILURE\w*|static_assert)\b|\brequire(?:_\w+)?\(') # `require` is that of the ranks' cases
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|(?<!include )"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.S)
# A name, its parameters, and the body; between them may be const, noexcept, a return type or initializers.
FUNCTION = re.compile(r'\b(~?\w+)\s*\((?:[^(){};]|\((?:[^(){};]|\([^(){};]*\))*\))*\)\s*(?:const|noexcept|override|->[^{};()]*|:[^;{}]*)*\s*(?=\{)')
LAMBDA = re.compile(r'\b(\w+)\s*=\s*(?=\[[^\]\n]*\]\s*(?:\([^{};]*?\))?[^{};()]*\{)')
MACRO = re.compile(r'^#define (\w+)((?:[^\n]*\\\n)*[^\n]*)', re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
KEYWORDS = {'if', 'for', 'while', 'switch', 'catch', 'TEST', 'TEST_F', 'TEST_P', 'TYPED_TEST', 'requires', 'alignas'}


# A test that the build has replaced by a reason why it is missing.
SKIPPED = re.compile(r'\{\s*GTEST_SKIP\(\)[^;]*;\s*\}')


def without_noise(text):
    """The code without comments and strings, with the same lines."""
    return NOISE.sub(lambda match: ' ' + '\n' * match.group().count('\n'), text)


def block(code, start):
    """The text from the next brace to the one that closes it."""
    start = code.index('{', start)
    depth = 0
    for match in re.compile(r'[{}]').finditer(code, start):
        depth += 1 if match.group() == '{' else -1
        if depth == 0:
            return code[start:match.end()]
    return code[start:]


def functions(code):
    """(name, body) of each function, named lambda and macro, also of those inside classes."""
    yield from MACRO.findall(code)
    code = re.sub(r'= *\{[^{};]*\}', '', code)  # default arguments
    for expression in (FUNCTION, LAMBDA):
        for match in expression.finditer(code):
            if match.group(1) not in KEYWORDS:
                yield match.group(1), block(code, match.end() - 1 if expression is FUNCTION else match.end())


def expecting(code, known=frozenset()):
    """Names of the functions that expect something, themselves or by a call of another one."""
    bodies = list(functions(code))
    names = set(known)
    while True:
        more = {name for name, body in bodies if name not in names and expects(body, names)}
        if not more:
            return names
        names |= more


def expects(body, helpers):
    return bool(EXPECTS.search(body)) or any(
        name in helpers for name in re.findall(r'\b(\w+)\b(?=\s*(?:<[^<>;{}]*>)?\s*[({;,)])', body))


def without_expectation(text, known=frozenset()):
    """(line, test) of each test that expects nothing."""
    code = without_noise(text)
    helpers = expecting(code, known)
    for match in TEST.finditer(code):
        body = block(code, match.end())
        if not SKIPPED.fullmatch(body) and not expects(body, helpers):
            yield code.count('\n', 0, match.start()) + 1, f'{match.group(1)}.{match.group(2)}'


def helpers_included(root, path, seen):
    """Names of the expecting functions in the headers that a source includes, and in the sources beside these headers."""
    names = set()
    for name in INCLUDE.findall(path.read_text()):
        header = next((p for p in (path.parent / name, root / name, root / 'tests' / name) if p.exists()), None)
        if header is None or header.resolve() in seen or 'tests' not in header.resolve().relative_to(root).parts:
            continue
        seen.add(header.resolve())
        names |= helpers_included(root, header, seen)
        for part in (header, header.with_suffix('.cpp')):
            if part.exists():
                names |= expecting(without_noise(part.read_text()), names)
    return names


def check(root):
    count = errors = 0
    for path in sorted((root / 'tests').rglob('*.cpp')):
        text = path.read_text()
        count += len(TEST.findall(without_noise(text)))
        for line, test in without_expectation(text, helpers_included(root, path, set())):
            print(f'{path.relative_to(root)}:{line}: {test} expects nothing: add an EXPECT_ of its result')
            errors += 1
    print(f'{count} tests, {errors} errors')
    return 1 if errors or count == 0 else 0


EMPTY = ('TEST(a, b) { run(); }', 'TEST_F(a, b) {\n    // EXPECT_EQ(1, 1);\n    run("EXPECT_TRUE");\n}',
         'void helper() { run(); }\nTEST(a, b) { helper(); }', 'TEST_P(a, b) { auto f = [] { run(); }; f(); }',
         'void unused() { EXPECT_TRUE(run()); }\nTEST(a, b) { run(); }', '#define BOTH(a) run(a)\nTEST(a, b) { BOTH(1); }',
         'TEST(a, b) { SUCCEED(); }')
FULL = ('TEST(a, b) { EXPECT_TRUE(run()); }', 'TEST_F(a,\n       b) { if (run()) { ASSERT_EQ(1, 1); } }',
        'void helper(int n) { EXPECT_EQ(n, 1); }\nvoid outer() { helper(1); }\nTEST(a, b) { outer(); }',
        'struct s { ~s() { EXPECT_TRUE(run()); } };\nTEST(a, b) { s x; x.~s(); }',
        'TEST(a, b) { const auto f = [&](int n) -> int { EXPECT_EQ(n, 1); return n; }; for (;;) f(1); }',
        'template <class T> void helper() { EXPECT_TRUE(T()); }\nTEST(a, b) { helper<int>(); }',
        'void helper() { FAIL(); }\nTEST(a, b) { std::thread t(helper); }', 'TEST(a, b) { EXPECT_DEATH(run(), ""); }', 'TEST(a, b) { GTEST_SKIP() << "why"; }',
        '#define BOTH(a) \\\n    EXPECT_TRUE(a)\nTEST(a, b) { BOTH(run()); }')


def self_test():
    wrong = [text for text in EMPTY if not list(without_expectation(text))]
    wrong += [text for text in FULL if list(without_expectation(text))]
    for text in wrong:
        print(f'judged wrongly: {text}')
    print(f'{len(EMPTY) + len(FULL)} bodies, {len(wrong)} errors')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(self_test() if sys.argv[1] == '--self-test' else check(Path(sys.argv[1]).resolve()))
