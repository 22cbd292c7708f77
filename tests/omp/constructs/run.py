#!/usr/bin/env python3
"""Compiles programs with a compiler's own OpenMP option, and runs them with this library in place of the compiler's.

run.py LIBRARY_FOLDER PROGRAM... [--compiler NAME] [--threads LIST] [--flags FLAGS] [--own]

A program passes if its status is 0 with 1, 2 and 8 threads. Its first lines may hold directives, each a comment line of its own.
`environment: NAME=VALUE ...` sets variables; each line `again with: NAME=VALUE ...` runs it once more with these as well;
`arguments: WORD ...` runs it once more with each of the words as its argument; `libraries: FLAG ...` is for the compiler.
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

compilers = {
    "gcc": {".c": "gcc", ".cpp": "g++", ".f90": "gfortran"},
    "clang": {".c": "clang-14", ".cpp": "clang++-14"},
}


names = ("environment", "again with", "arguments", "libraries")
first_lines = 12
comment = re.compile(r"\s*(?://|!)(.*)")
directive = re.compile(rf"\s*({'|'.join(names)}):(.*)")
anywhere = re.compile(rf"(?<!\w)(?:{'|'.join(names)}):")


def directives(text, name):
    """The words of each line with this directive."""
    lines = []
    for line in text.splitlines()[:first_lines]:
        found = comment.match(line)
        found = found and directive.match(found.group(1))
        if found and found.group(1) == name:
            lines.append(shlex.split(found.group(2)))
    return lines


def misplaced(text):
    """What is wrong with the directives in the comments of a program."""
    errors = []
    for number, line in enumerate(text.splitlines(), 1):
        found = comment.match(line)
        if not found or not anywhere.search(found.group(1)):
            continue
        at_start = directive.match(found.group(1))
        if not at_start or len(anywhere.findall(found.group(1))) > 1:
            errors.append(f"line {number}: a directive is the only one of its line, and at the start of the comment")
        elif number > first_lines:
            errors.append(f"line {number}: a directive is in the first {first_lines} lines")
        elif not at_start.group(2).strip():
            errors.append(f"line {number}: a directive without words")
    return errors


def run(program, binary, environment, arguments):
    done = subprocess.run([binary, *arguments], env=environment, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        return f"status {done.returncode}: {done.stderr.strip()[-300:]}"
    return None


def can_compile(compiler, suffix):
    """False without the compiler, or without its headers and library of OpenMP."""
    text = "program p\nuse omp_lib\nend program\n" if suffix == ".f90" else "#include <omp.h>\nint main(void) { return 0; }\n"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / ("probe" + suffix)
        source.write_text(text)
        try:
            return subprocess.run([compiler, "-fopenmp", "-o", source.with_suffix(""), source], capture_output=True).returncode == 0
        except FileNotFoundError:
            return False


def failures_of(program, options, folder):
    text = program.read_text()
    if errors := misplaced(text):
        return [f"{program.name}: {error}" for error in errors]
    compiler = compilers[options.compiler].get(program.suffix)
    if not compiler:
        return []
    binary = pathlib.Path(folder) / program.name.replace(".", "_")
    # Debian's clang needs the version for 5.1; gcc has no such option
    version = ["-fopenmp-version=51"] if options.compiler == "clang" else []
    command = [compiler, "-O2", "-g", "-fopenmp", *version, "-J", folder] if program.suffix == ".f90" else [
        compiler, "-O2", "-g", "-fopenmp", *version]
    libraries = sum(directives(text, "libraries"), [])
    built = subprocess.run([*command, *shlex.split(options.flags), "-o", binary, program, *libraries], capture_output=True, text=True)
    if built.returncode != 0:
        return [f"{program.name}: does not compile\n{built.stderr[-2000:]}"]
    failures = []
    for threads in options.threads.split(","):
        environment = dict(os.environ, OMP_NUM_THREADS=threads)
        if not options.own:
            environment["LD_LIBRARY_PATH"] = str(options.library.resolve())
        environment.update(word.split("=", 1) for word in sum(directives(text, "environment"), []))
        for more in [[], *directives(text, "again with")]:
            with_more = environment | dict(word.split("=", 1) for word in more)
            for arguments in [[], *([word] for word in sum(directives(text, "arguments"), []))]:
                if failure := run(program, binary, with_more, arguments):
                    failures.append(f"{' '.join([*more, program.name, *arguments])} with {threads} threads: {failure}")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("programs", type=pathlib.Path, nargs="+")
    parser.add_argument("--compiler", default="gcc", choices=compilers)
    parser.add_argument("--threads", default="1,2,8")
    parser.add_argument("--flags", default="", help="for the compiler")
    parser.add_argument("--own", action="store_true", help="with the compiler's own library")
    options = parser.parse_args()
    failures = []
    for program in options.programs:
        compiler = compilers[options.compiler].get(program.suffix)
        if not compiler or not can_compile(compiler, program.suffix):
            print(f"{program.name}: {compiler or options.compiler} compiles no OpenMP here")
            return 77
    with tempfile.TemporaryDirectory() as folder:
        for program in options.programs:
            failures += failures_of(program, options, folder)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


sys.exit(main())
