#!/usr/bin/env python3
"""bench/run's view of programs of BOTS: names, answers, and what is refused. usage: bots_test.py ROOT"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

OUTPUT = 'Program      = Made up\nVerification = {}\nTime Program = 0.25 seconds\n'


def program(folder, verification, status=0):
    """A program that answers as one of the suite does."""
    path = folder / f'program-{verification}-{status}'
    path.write_text(f'#!/bin/sh\ncat <<END\n{OUTPUT.format(verification)}END\nexit {status}\n')
    path.chmod(0o755)
    return path


def check_answers(once):
    with tempfile.TemporaryDirectory() as name:
        def run(*how):
            return subprocess.run([sys.executable, once, program(Path(name), *how)], capture_output=True, text=True)

        right = run('successful')
        assert right.returncode == 0 and json.loads(right.stdout)['seconds'] == 0.25, right
        wrong = run('UNSUCCESSFUL')
        assert wrong.returncode == 1 and 'verification: UNSUCCESSFUL' in wrong.stderr and not wrong.stdout, wrong
        failed = run('successful', 3)
        assert failed.returncode == 1 and 'status 3' in failed.stderr and not failed.stdout, failed


def main():
    sys.dont_write_bytecode = True
    root = Path(sys.argv[1])
    sys.path.insert(0, str(root / 'bench'))
    from runner import bots
    from runner.build import Failed

    texts = {'omp-tasks': 'plain', 'omp-tasks-tied': 'tied', 'omp-tasks-if_clause-tied': 'if, tied',
             'for-omp-tasks-tied': 'for, tied', 'omp-tasks-manual': 'manual'}
    assert {version: bots.version_text(version) for version in texts} == texts, texts
    check_answers(bots.ONCE)
    with tempfile.TemporaryDirectory() as empty:
        try:
            bots.sources(Path(empty))
            raise AssertionError('an empty folder was taken for BOTS')
        except Failed as error:
            assert empty in str(error) and 'omp-tasks' in str(error), error


if __name__ == '__main__':
    main()
