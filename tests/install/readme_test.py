#!/usr/bin/env python3
"""README's commands and projects, as they are written there, run on a copy of the source; and a project in C++17.

`sudo` is a program of the test's own: it installs below a staging folder, and counts ldconfig. Prints TAP.
usage: readme_test.py --build DIR --source DIR --cxx COMMAND... --cc COMMAND...
       readme_test.py --shown DIR    only that README of that source shows what is tested
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from install_test import Failure, one, options_of, run, run_checks

SOURCES = ('include', 'fult', 'sync', 'comm', 'global', 'launcher', 'omp', 'mpi', 'tools', 'apps', 'bench', 'examples', 'meson.build', 'meson_options.txt',
           'fult.map', 'fult-comm.map', 'fult-global.map', 'LICENSE')
SUDO = '''#!/bin/sh
[ "$1" = ldconfig ] || exec env DESTDIR="$STAGE" "$@"
echo ldconfig >>"$STAGE/ran"
'''


class Readme:
    """A copy of the source, and what README's section on building shows: commands by block, files by language."""

    def __init__(self, options, scratch):
        self.options = options
        self.scratch = scratch
        self.copy = scratch / 'fult'
        self.stage = scratch / 'stage'
        self.home = scratch / 'home'
        copy_source(options.source, self.copy)
        for folder in (self.stage, self.home, scratch / 'bin'):
            folder.mkdir()
        sudo = scratch / 'bin' / 'sudo'
        sudo.write_text(SUDO)
        sudo.chmod(0o755)
        text = (options.source / 'README.md').read_text()
        _, self.first_program = shown(text, 'A first program')
        self.files, self.commands = shown(text, 'Building, installing, using')
        self.environment = {**os.environ, 'HOME': str(self.home), 'STAGE': str(self.stage), 'CXX': ' '.join(options.cxx),
                            'CC': ' '.join(options.cc), 'PATH': f'{scratch / "bin"}:{os.environ["PATH"]}',
                            # The commands are tested here, not the code: compiled in half the time.
                            'CXXFLAGS': '-O0'}
        for name in ('DESTDIR', 'PKG_CONFIG_PATH', 'CMAKE_PREFIX_PATH', 'LD_LIBRARY_PATH'):
            self.environment.pop(name, None)

    def shell(self, commands):
        """Runs commands as a user types them, and keeps what they export."""
        said = run(['sh', '-ec', commands + '\nenv -0 >"$STAGE/environment"'], cwd=self.copy, env=self.environment)
        kept = (self.stage / 'environment').read_text().split('\0')
        self.environment |= dict(entry.split('=', 1) for entry in kept if '=' in entry)
        return said

    def as_gxx(self):
        """g++ in the README's commands is the compiler of the build."""
        program = self.scratch / 'bin' / 'g++'
        program.write_text(f'#!/bin/sh\nexec env PATH="{os.environ["PATH"]}" {" ".join(self.options.cxx)} "$@"\n')
        program.chmod(0o755)

    def project(self, name, **files):
        folder = self.scratch / name
        folder.mkdir()
        shutil.copy(self.copy / 'examples' / 'hello.cpp', folder)
        for file, text in files.items():
            (folder / file).write_text(text)
        return folder


def shown(text, title):
    """What a section of README shows: {language: file}, and its blocks of commands."""
    section = re.search(rf'^## {title}\n(.*?)^## ', text, re.M | re.S).group(1)
    prose = re.sub(r'^```.*?^```', '', section, flags=re.M | re.S)
    commands = [re.sub(r'^    ', '', block, flags=re.M) for block in re.findall(r'(?:^    .*\n)+', prose, re.M)]
    return dict(re.findall(r'^```(\w+)\n(.*?)^```', section, re.M | re.S)), commands


def copy_source(source, target):
    target.mkdir()
    for name in SOURCES:
        path = source / name
        shutil.copytree(path, target / name) if path.is_dir() else shutil.copy(path, target / name)


def said_hello(text):
    if not re.search(r'^3000000, by \d+ workers$', text, re.M):
        raise Failure(f'hello said:\n{text}')


def shows_what_is_tested(source):
    """The blocks of commands, two projects; and ./demo sets the folder up as README does."""
    text = (source / 'README.md').read_text()
    _, first_program = shown(text, 'A first program')
    files, commands = shown(text, 'Building, installing, using')
    if len(first_program) != 1 or len(commands) != 3 or sorted(files) != ['cmake', 'meson']:
        raise Failure(f'other blocks than expected: {commands} {sorted(files)}')
    setup = commands[0].splitlines()[0]
    if setup not in (source / 'demo').read_text():
        raise Failure(f'./demo sets up its folder otherwise than `{setup}`, so README does not work after it')


def install_as_root(readme):
    """The first block: staged, as sudo would into /usr/local."""
    readme.shell(readme.commands[0])
    one('fult.pc', readme.stage / 'usr' / 'local')
    if (readme.stage / 'ran').read_text() != 'ldconfig\n':
        raise Failure('ldconfig did not run once')
    if any(found.is_file() for found in (readme.copy / 'build' / 'release').rglob('fib-*')):  # Meson makes the folders
        raise Failure('benchmarks were compiled, which are not needed')


def configured_again(readme):
    """The same commands on a folder that is there, as ./demo leaves it: nothing is compiled."""
    if 'no work to do' not in readme.shell(readme.commands[0]):
        raise Failure('the commands compile again what is there')


def first_program(readme):
    """With what ./demo has built and nothing installed."""
    readme.as_gxx()
    said_hello(readme.shell(readme.first_program[0]))


def install_at_home(readme):
    readme.shell(readme.commands[1])
    one('fult.pc', readme.home)
    for program in ('fult-info', 'fult-run', 'fult-comm-info', 'fult-omp'):
        found = readme.shell(f'command -v {program} && {program} --help').splitlines()[0]
        if not Path(found).is_relative_to(readme.home):
            raise Failure(f'{program} is {found}, not the one below {readme.home}')


def by_plain_compiler(readme):
    said_hello(readme.shell(readme.commands[2]))


def by_meson(readme):
    folder = readme.project('meson', **{'meson.build': readme.files['meson']})
    run(['meson', 'setup', 'build'], cwd=folder, env=readme.environment)
    run(['ninja', '-C', 'build'], cwd=folder, env=readme.environment)
    said_hello(run(['build/hello'], cwd=folder, env=readme.environment))


def by_cmake(readme):
    if not shutil.which('cmake'):
        return 'no cmake here; tools/setup check installs it'
    folder = readme.project('cmake', **{'CMakeLists.txt': readme.files['cmake']})
    run(['cmake', '-G', 'Ninja', '-B', 'build'], cwd=folder, env=readme.environment)
    run(['cmake', '--build', 'build'], cwd=folder, env=readme.environment)
    said_hello(run(['build/hello'], cwd=folder, env=readme.environment))


def by_meson_in_cxx17(readme):
    """A project that forgot cpp_std gets one error, which names the remedy."""
    text = readme.files['meson'].replace("'cpp_std=c++20', ", '')
    folder = readme.project('cxx17', **{'meson.build': text})
    run(['meson', 'setup', 'build'], cwd=folder, env=readme.environment)
    result = subprocess.run(['ninja', '-C', 'build'], cwd=folder, env=readme.environment, capture_output=True, text=True)
    errors = re.findall(r'^.*\berror: .*$', result.stdout, re.M)
    if result.returncode == 0 or len(errors) != 2 or 'FULT needs C++20: add -std=c++20' not in errors[0] \
            or 'fatal error: ' not in errors[1]:
        raise Failure(f'other errors than the one about C++20:\n{result.stdout[:3000]}')


def by_meson_without_installing(readme):
    """The sources in subprojects/fult, and nothing installed."""
    folder = readme.project('fallback', **{'meson.build': readme.files['meson']})
    (folder / 'subprojects').mkdir()
    copy_source(readme.options.source, folder / 'subprojects' / 'fult')
    environment = {k: v for k, v in readme.environment.items()
                   if k not in ('PKG_CONFIG_PATH', 'CMAKE_PREFIX_PATH', 'LD_LIBRARY_PATH')}
    run(['meson', 'setup', 'build', '--force-fallback-for=fult'], cwd=folder, env=environment)
    run(['ninja', '-C', 'build', 'hello'], cwd=folder, env=environment)
    said_hello(run(['build/hello'], cwd=folder, env=environment))


def without_programs(readme):
    """A project that contains FULT needs no CLI11: the libraries remain."""
    folder = readme.scratch / 'fallback'
    run(['meson', 'setup', 'bare', '--force-fallback-for=fult', '-Dfult:programs=disabled'], cwd=folder, env=readme.environment)
    targets = {target['name'] for target in json.loads(run(['meson', 'introspect', 'bare', '--targets'], cwd=folder))}
    if 'fult' not in targets or targets & {'fult-info', 'fult-run', 'fult-comm-info'}:
        raise Failure(f'without programs the targets are {sorted(targets)}')


def main():
    if sys.argv[1:2] == ['--shown']:
        return run_checks(Path(sys.argv[2]), (shows_what_is_tested,))
    checks = (install_as_root, configured_again, first_program, install_at_home, by_plain_compiler, by_meson, by_cmake,
              by_meson_in_cxx17, by_meson_without_installing, without_programs)
    with tempfile.TemporaryDirectory(prefix='fult-readme-') as scratch:
        return run_checks(Readme(options_of(), Path(scratch)), checks)


if __name__ == '__main__':
    sys.exit(main())
