#!/usr/bin/env python3
"""The CMake package and fult-comm.pc, used from outside; and the lists of what the libraries export.

The installed tree is moved before it is used: nothing in it may know where it was. Prints TAP.
usage: packages_test.py --build DIR --source DIR --cxx COMMAND... --cc COMMAND...
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from install_test import Failure, Installed, one, options_of, run, run_checks


class Moved(Installed):
    """The staged tree, moved from the place of installation."""

    def __init__(self, options, scratch):
        super().__init__(options, scratch)
        moved = scratch / 'moved'
        self.stage.rename(moved)
        self.stage = moved
        self.pc = one('fult.pc', moved)
        self.libdir = self.pc.parent.parent
        self.prefix = one('fult.hpp', moved).parent.parent.parent
        self.comm = (self.libdir / 'libfult-comm.so').exists()
        # The programs that CMake links find the library by the path that CMake gives them, not by the environment.
        self.environment |= {'PKG_CONFIG_PATH': str(self.pc.parent), 'CMAKE_PREFIX_PATH': str(self.prefix)}
        self.environment.pop('LD_LIBRARY_PATH')

    def cmake(self, name, source, **definitions):
        """Configures, builds and tests a project of tests/install; ctest's report."""
        build = self.scratch / name
        run(['cmake', '-G', 'Ninja', '-S', source, '-B', build, '-Werror=dev', '-DCMAKE_EXPORT_COMPILE_COMMANDS=ON',
             *(f'-D{key}={value}' for key, value in definitions.items())], env=self.environment)
        run(['cmake', '--build', build], env=self.environment)
        return run(['ctest', '--test-dir', build, '--output-on-failure', '--no-tests=error'], env=self.environment)


def cmake_package(tree):
    """find_package(FULT): shared and static, C++ and C, and fult-comm and fult-global if they exist."""
    if not shutil.which('cmake'):
        return 'no cmake here; tools/setup check installs it'
    report = tree.cmake('by_package', tree.options.source / 'tests/install/by_package', PROGRAMS=tree.consumer,
                        EXAMPLES=tree.options.source / 'examples')
    ran = len(re.findall(r'Passed', report))
    if ran != (8 if tree.comm else 4):
        raise Failure(f'other tests ran than expected:\n{report}')
    commands = (tree.scratch / 'by_package' / 'compile_commands.json').read_text()
    if str(tree.prefix / 'include') not in commands:
        raise Failure(f'compiled with other headers than those of {tree.prefix}:\n{commands}')


def cmake_package_in_c(tree):
    if not shutil.which('cmake'):
        return 'no cmake here; tools/setup check installs it'
    tree.cmake('only_c', tree.options.source / 'tests/install/only_c', PROGRAMS=tree.consumer)


def cmake_package_refuses(tree):
    """Versions that this one is not compatible with, and components that do not exist."""
    if not shutil.which('cmake'):
        return 'no cmake here; tools/setup check installs it'
    major, minor, patch = map(int, tree.pkg_config('--modversion')[0].split('.'))
    wanted = [('FULT REQUIRED', True), (f'FULT {major}.{minor}.{patch} EXACT REQUIRED', True),
              (f'FULT {major}.{minor}...{major + 1} REQUIRED', True), (f'FULT {major}.{minor}.{patch + 1} REQUIRED', False),
              (f'FULT {major + 1} REQUIRED', False), (f'FULT {major}.{minor + 1} REQUIRED', False),
              ('FULT REQUIRED COMPONENTS nothing', False)]
    if major == 0 and minor > 0:
        wanted.append((f'FULT 0.{minor - 1} REQUIRED', False))
    for number, (asked, found) in enumerate(wanted):
        project = tree.scratch / f'asks{number}'
        project.mkdir()
        (project / 'CMakeLists.txt').write_text('cmake_minimum_required(VERSION 3.19)\nproject(asks C)\n'
                                                f'find_package({asked})\n')
        result = subprocess.run(['cmake', '-G', 'Ninja', '-S', project, '-B', project / 'build'], env=tree.environment,
                                capture_output=True, text=True)
        if (result.returncode == 0) != found:
            raise Failure(f'find_package({asked}) should {"" if found else "not "}succeed:\n{result.stdout}{result.stderr}')
        if 'nothing' in asked and "no component 'nothing'" not in result.stderr:
            raise Failure(f'the missing component is not named:\n{result.stderr}')


def messages_by_meson(tree):
    """dependency('fult-comm')."""
    if not tree.comm:
        return 'built without fult-comm'
    project = tree.scratch / 'ranks'
    project.mkdir()
    shutil.copy(tree.options.source / 'examples' / 'ranks.cpp', project)
    (project / 'meson.build').write_text("project('ranks', 'cpp', default_options: ['cpp_std=c++20', 'werror=true'])\n"
                                         "test('ranks', executable('ranks', 'ranks.cpp', dependencies: dependency('fult-comm')))\n")
    environment = {**tree.environment, 'LD_LIBRARY_PATH': str(tree.libdir)}
    run(['meson', 'setup', project / 'build', project], env=environment)
    run(['meson', 'test', '-C', project / 'build', '--print-errorlogs'], env=environment)


def binary_interface(tree):
    """What the libraries export, and the layouts of public types, are as recorded in tools/abi-symbols/. Only g++'s: another
    compiler makes other copies."""
    if 'Free Software Foundation' not in run([*tree.options.cxx, '--version']):
        return 'not built by g++'
    result = subprocess.run([sys.executable, tree.options.source / 'tools' / 'abi', tree.libdir], capture_output=True, text=True)
    if result.returncode != 0:
        raise Failure(result.stdout + result.stderr)


def changed_layout(tree):
    """A public structure with another member is noticed, and what to do is said."""
    if not all(shutil.which(program) for program in ('abidiff', 'abidw', 'g++')):
        return 'abidiff (Debian: abigail-tools) or g++ is missing'
    copy = tree.scratch / 'changed'
    for folder in ('include', 'tools'):
        shutil.copytree(tree.options.source / folder, copy / folder)
    header = copy / 'include' / 'fult' / 'options.hpp'
    text = header.read_text()
    header.write_text(text.replace('    bool stealing = true;', '    int more = 0;\n    bool stealing = true;'))
    if header.read_text() == text:
        raise Failure('options.hpp has no member `stealing` any more; change another one here')
    result = subprocess.run([sys.executable, copy / 'tools' / 'abi', tree.libdir], capture_output=True, text=True)
    if result.returncode != 1 or "'int more'" not in result.stdout or 'tools/abi --update' not in result.stdout:
        raise Failure(f'status {result.returncode}: {result.stdout}{result.stderr}')


def main():
    checks = (cmake_package, cmake_package_in_c, cmake_package_refuses, messages_by_meson, binary_interface, changed_layout)
    with tempfile.TemporaryDirectory(prefix='fult-packages-') as scratch:
        return run_checks(Moved(options_of(), Path(scratch)), checks)


if __name__ == '__main__':
    sys.exit(main())
