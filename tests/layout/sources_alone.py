#!/usr/bin/env python3
"""Every source of the libraries, programs, applications and benchmarks compiles alone, as in a build with default options.

`./check` compiles several sources as one, and no benchmarks: there, a source can lack an include of this project, or a
benchmark can use what is gone. Precompiled headers are used where the default build does; the step variants compiles without them.
usage: sources_alone.py ROOT --cxx COMMAND... --cc COMMAND...
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

CONFIGURATION = ['-Dwerror=true', '-Dbuildtype=plain', '-Dtests=disabled', '-Dbenchmarks=enabled']
# What only an object file needs: options with an argument, and options alone.
OF_OBJECTS = {'-o', '-MQ', '-MF'}
DROPPED = {'-MD', '-c'}


def run(command, environment=None):
    """Raises SystemExit with what the command has printed if it fails."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f'{shlex.join(command)} failed:\n{done.stdout[-4000:]}{done.stderr[-2000:]}')


def commands_by_source(root, build, cxx, cc):
    """Configures a build folder, makes what is included from it, and returns its commands; of several programs' source the first."""
    run(['meson', 'setup', build, str(root), *CONFIGURATION], {**os.environ, 'CC': shlex.join(cc), 'CXX': shlex.join(cxx)})
    entries = {}
    for entry in json.loads((Path(build) / 'compile_commands.json').read_text()):
        entries.setdefault(os.path.normpath(os.path.join(entry['directory'], entry['file'])), entry)
    generated = [os.path.relpath(source, build) for source in entries if Path(build) in Path(source).parents]
    headers = [entry['output'] for source, entry in entries.items() if source.endswith('.hpp')]
    if generated + headers:
        run(['ninja', '-C', build, *generated, *headers])
    return {source: entry for source, entry in entries.items() if not source.endswith('.hpp')}


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


def complaint(entry):
    """What the compiler says of a source; empty if nothing."""
    run = subprocess.run(checking(entry['command']), cwd=entry['directory'], capture_output=True, text=True)
    said = '' if run.returncode == 0 else run.stdout + run.stderr or 'failed silently'
    # On a loaded machine all of it takes longer than a test may be silent.
    print(f'{os.path.basename(entry["file"])}: {"wrong" if said else "ok"}', flush=True)
    return said


def complaints(root, cxx, cc):
    """By source, what the compilers say, and the number of sources."""
    with tempfile.TemporaryDirectory() as build, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        entries = commands_by_source(root, build, cxx, cc)
        said = pool.map(complaint, entries.values())
        return {os.path.relpath(source, root): text for source, text in zip(entries, said) if text}, len(entries)


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
    assert number == 4 and list(found) == ['second.cpp'] and 'vector' in found['second.cpp'], (number, found)
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('root', type=Path, nargs='?')
    parser.add_argument('--self-test', action='store_true')
    parser.add_argument('--cxx', nargs='+', required=True)
    parser.add_argument('--cc', nargs='+', required=True)
    options = parser.parse_args()
    if options.self_test:
        return self_test(options.cxx, options.cc)
    found, number = complaints(options.root, options.cxx, options.cc)
    for source, text in found.items():
        print(f'--- {source}\n{text}')
    print(f'{number} sources, {len(found)} failed')
    return 1 if found or number == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
