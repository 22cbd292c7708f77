"""A program that a compiler builds with its own OpenMP option, and that runs with this library."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile


def family_of(compiler):
    return 'clang' if 'clang' in compiler else 'gcc'


@contextlib.contextmanager
def built(library, source, compiler, **variables):
    """The path of the program, and the environment to run it in. Ends the test with status 77 if there is no such compiler."""
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder) / pathlib.Path(source).stem)
        try:
            done = subprocess.run([compiler, '-g', '-O1', '-fopenmp', f'-L{library}', '-o', program, source],
                                  capture_output=True, text=True, check=False)
        except FileNotFoundError:
            sys.exit(77)
        if done.returncode != 0:
            print(done.stderr)
            sys.exit(1)
        yield program, dict(os.environ, LD_LIBRARY_PATH=str(pathlib.Path(library).resolve()), **variables)
