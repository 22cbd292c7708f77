#!/usr/bin/env python3
"""Every source of the libraries, programs, applications and benchmarks compiles alone, as in a build with default options.

`./check` compiles several sources of a library as one, and no benchmarks: there, a source can lack an include of this project,
or a benchmark can use what is gone. What BUILD, a configured build folder, compiles alone is left out. Precompiled headers are
used where the default build does; the step variants compiles without them.
usage: sources_alone.py ROOT BUILD --cxx COMMAND... --cc COMMAND...
       sources_alone.py --self-test --cxx COMMAND... --cc COMMAND...
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CONFIGURATION = ['-Db_colorout=never', '-Dwerror=true', '-Dbuildtype=plain', '-Dtests=disabled', '-Dbenchmarks=enabled']
# What only an object file needs: options with an argument, and options alone.
OF_OBJECTS = {'-o', '-MQ', '-MF'}
DROPPED = {'-MD', '-c'}


def run(command, environment=None):
    """Raises SystemExit with what the command has printed if it fails."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f'{shlex.join(command)} failed:\n{done.stdout[-4000:]}{done.stderr[-2000:]}')


def commands_of(build):
    """The commands that compile in a build folder, each with its source, an absolute path."""
    commands = json.loads((Path(build) / 'compile_commands.json').read_text())
    return [(os.path.normpath(os.path.join(command['directory'], command['file'])), command) for command in commands]


def commands_by_source(root, build, cxx, cc):
    """Configures a build folder, makes what is included from it, and returns its commands by source."""
    run(['meson', 'setup', build, str(root), *CONFIGURATION], {**os.environ, 'CC': shlex.join(cc), 'CXX': shlex.join(cxx)})
    commands = commands_of(build)
    generated = [os.path.relpath(source, build) for source, _ in commands if Path(build) in Path(source).parents]
    headers = [command['output'] for source, command in commands if source.endswith('.hpp')]
    if generated + headers:
        run(['ninja', '-C', build, *generated, *headers])
    return {source: command for source, command in reversed(commands) if not source.endswith('.hpp')}  # the first one of a source


def checking(command):
    """The arguments of a command that compiles, of one that only checks."""
    arguments = iter(shlex.split(command))
    kept = []
    for argument in arguments:
        if argument in OF_OBJECTS:
            next(arguments)
        elif argument not in DROPPED:
            kept.append(argument)
    return [*kept, '-fsyntax-only']


def complaint(command):
    """What the compiler says of a source; empty if nothing."""
    run = subprocess.run(checking(command['command']), cwd=command['directory'], capture_output=True, text=True)
    said = '' if run.returncode == 0 else run.stdout + run.stderr or 'failed silently'
    # On a loaded machine all of it takes longer than a test may be silent.
    print(f'{os.path.basename(command["file"])}: {"wrong" if said else "ok"}', flush=True)
    return said


def complaints(root, cxx, cc, other_build=None):
    """By source, what the compilers say, and the number of sources: of those that the other build does not compile alone."""
    with tempfile.TemporaryDirectory() as build, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        compiled_there = {source for source, _ in commands_of(other_build)} if other_build else set()
        commands = {source: command for source, command in commands_by_source(root, build, cxx, cc).items() if source not in compiled_there}
        said = pool.map(complaint, commands.values())
        return {os.path.relpath(source, root): text for source, text in zip(commands, said) if text}, len(commands)


def self_test(cxx, cc):
    """A project with a source that lacks an include, which the source before it and the generated one have."""
    description = """project('self_test', 'cpp', 'c')
generated = custom_target(input: 'first.cpp', output: 'generated.cpp', command: ['cp', '@INPUT@', '@OUTPUT@'])
library('self_test', 'first.cpp', 'second.cpp', 'third.c', generated)
"""
    with tempfile.TemporaryDirectory() as root:
        for name, text in {'meson.build': description,
                           'meson_options.txt': "option('tests', type: 'feature')\noption('benchmarks', type: 'feature')\n",
                           'first.cpp': '#include <vector>\nstatic std::vector<int> numbers;\nint *data() { return numbers.data(); }\n',
                           'second.cpp': 'std::vector<int> numbers;\n',
                           'third.c': 'int number;\n'}.items():
            (Path(root) / name).write_text(text)
        found, number = complaints(Path(root), cxx, cc)
        (Path(root) / 'other').mkdir()
        compiled = [{'directory': root, 'file': 'second.cpp', 'command': ''}]
        (Path(root) / 'other' / 'compile_commands.json').write_text(json.dumps(compiled))
        others, number_of_others = complaints(Path(root), cxx, cc, Path(root) / 'other')
    assert number == 4 and list(found) == ['second.cpp'] and 'vector' in found['second.cpp'], (number, found)
    assert number_of_others == 3 and not others, others
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('root', type=Path, nargs='?')
    parser.add_argument('build', type=Path, nargs='?')
    parser.add_argument('--self-test', action='store_true')
    parser.add_argument('--cxx', nargs='+', required=True)
    parser.add_argument('--cc', nargs='+', required=True)
    options = parser.parse_args()
    if options.self_test:
        return self_test(options.cxx, options.cc)
    found, number = complaints(options.root, options.cxx, options.cc, options.build)
    for source, text in found.items():
        print(f'--- {source}\n{text}')
    print(f'{number} sources, {len(found)} failed')
    return 1 if found or number == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
