#!/usr/bin/env python3
"""run.py obeys directives, and fails on one that it would not find.

usage: directives_test.py RUN_PY COMPILER CLANG_FORMAT      CLANG_FORMAT may be empty
"""
import pathlib
import subprocess
import sys
import tempfile

RUN, COMPILER, CLANG_FORMAT = sys.argv[1:]

# Of the run with FIRST=1 SECOND=2 and an argument alone: status 3.
PROGRAM = """#include <stdlib.h>
int main(int count, char **words) {
    (void)words;
    return getenv("FIRST") && getenv("SECOND") && !getenv("THIRD") && count == 2 ? 3 : 0;
}
"""
RIGHT = """// Some text.
// environment: FIRST=1
// again with: SECOND=2
// again with: SECOND=2 THIRD=3
// arguments: one two
// libraries: -pthread
"""
WRONG = {
    "// Some text. libraries: -pthread\n": "line 1: a directive is the only one of its line",
    "// Some text. again with:\n// FIRST=1\n": "line 1: a directive is the only one of its line",
    "// arguments: one arguments: two\n": "line 1: a directive is the only one of its line",
    "// arguments:\n// one\n": "line 1: a directive without words",
    "\n" * 12 + "// arguments: one\n": "line 13: a directive is in the first 12 lines",
}


def run(folder, text):
    program = pathlib.Path(folder) / "program.c"
    program.write_text(text)
    done = subprocess.run([sys.executable, RUN, folder, program, "--threads", "1", "--own", "--compiler", COMPILER],
                          capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def errors_with(folder):
    code, out = run(folder, PROGRAM)
    if code == 77:
        print(out)
        sys.exit(77)
    if code != 0:
        yield f"no directive: status {code}, {out}"
    code, out = run(folder, RIGHT + PROGRAM)
    failed = [line.partition(":")[0] for line in out.splitlines()]
    if code != 1 or failed != [f"SECOND=2 program.c {word} with 1 threads" for word in ("one", "two")]:
        yield f"directives: status {code}, {out}"
    for text, message in WRONG.items():
        code, out = run(folder, text + PROGRAM)
        if code != 1 or f"program.c: {message}" not in out:
            yield f"{text!r}: status {code}, {out}"


def formatted():
    """The formatter leaves directives alone, also below a line that is too long."""
    text = "// " + "long " * 30 + "\n" + RIGHT + PROGRAM
    folder = pathlib.Path(RUN).parent
    done = subprocess.run([CLANG_FORMAT, f"--assume-filename={folder / 'program.c'}"], input=text, capture_output=True, text=True, check=True)
    if RIGHT.partition("\n")[2] not in done.stdout:
        yield f"the formatter moves directives:\n{done.stdout}"


with tempfile.TemporaryDirectory() as temporary:
    errors = [*errors_with(temporary), *(formatted() if CLANG_FORMAT else [])]
for error in errors:
    print(error)
sys.exit(1 if errors else 0)
