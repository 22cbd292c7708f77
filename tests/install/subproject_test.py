#!/usr/bin/env python3
"""FULT inside another Meson project: which of its assertions are compiled. Nothing is built. Prints TAP.

usage: subproject_test.py --build DIR --source DIR --cxx COMMAND... --cc COMMAND...
"""
import json
import os
import sys
import tempfile
from pathlib import Path

from install_test import Failure, options_of, run, run_checks
from readme_test import copy_source

PROJECT = '''project('outer', 'cpp', default_options: ['cpp_std=c++20'])
executable('outer', 'outer.cpp', dependencies: dependency('fult', fallback: 'fult', default_options: ['tests=disabled',
  'benchmarks=disabled', 'programs=disabled', 'comm=disabled']))
'''


class Outer:
    """A project with a copy of FULT in subprojects/fult."""

    def __init__(self, options, scratch):
        self.folder = scratch / 'outer'
        (self.folder / 'subprojects').mkdir(parents=True)
        copy_source(options.source, self.folder / 'subprojects' / 'fult')
        (self.folder / 'meson.build').write_text(PROJECT)
        (self.folder / 'outer.cpp').write_text('int main() {}\n')
        self.environment = {**os.environ, 'CXX': ' '.join(options.cxx), 'CC': ' '.join(options.cc)}
        self.set_up(self.folder / 'build')

    def set_up(self, *arguments):
        run(['meson', 'setup', *arguments, '--force-fallback-for=fult'], cwd=self.folder, env=self.environment)

    def asserts(self, *arguments):
        """Whether the library's sources are compiled with assertions, with these options of meson setup."""
        self.set_up('--reconfigure', 'build', *arguments)
        targets = json.loads(run(['meson', 'introspect', 'build', '--targets'], cwd=self.folder))
        compiled = [source for target in targets if target['name'] == 'fult' for source in target['target_sources']
                    if source.get('language') == 'cpp']
        if not compiled:
            raise Failure('the library has no sources')
        return any('-DFULT_ASSERTIONS=1' in source['parameters'] for source in compiled)


def expect(outer, wanted, *arguments):
    if outer.asserts(*arguments) is not wanted:
        raise Failure(f'{" ".join(arguments)}: assertions are {"off" if wanted else "on"}')


def assertions_follow_the_build_type(outer):
    expect(outer, False, '-Dbuildtype=release')
    expect(outer, True, '-Dbuildtype=debugoptimized')


def assertions_may_be_chosen(outer):
    expect(outer, True, '-Dbuildtype=release', '-Dfult:assertions=enabled')
    expect(outer, False, '-Dbuildtype=debug', '-Dfult:assertions=disabled')


def main():
    with tempfile.TemporaryDirectory(prefix='fult-subproject-') as scratch:
        return run_checks(Outer(options_of(), Path(scratch)), (assertions_follow_the_build_type, assertions_may_be_chosen))


if __name__ == '__main__':
    sys.exit(main())
