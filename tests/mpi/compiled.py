#!/usr/bin/env python3
"""Compiles an OpenMP program that calls MPI, as its users do, and runs it by fult-mpi.

usage: compiled.py SOURCE -- LAUNCHER [ARGUMENT ...] FULT_MPI -- COMPILER [ARGUMENT ...]
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77


def split(words):
    """At each --."""
    parts = [[]]
    for word in words:
        if word == '--':
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def main():
    (source,), launch, compiler = split(sys.argv[1:])
    if not shutil.which(compiler[0]):
        print(f'{compiler[0]} is not here')
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / Path(source).stem
        subprocess.run([compiler[0], source, '-g', '-O1', '-fopenmp', '-o', program, *compiler[1:]], check=True)
        return subprocess.run([*launch, program]).returncode


if __name__ == '__main__':
    sys.exit(main())
