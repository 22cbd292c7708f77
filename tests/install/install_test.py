#!/usr/bin/env python3
"""Installs into an empty directory, then builds and runs outside programs with what lies there and nothing else.

By plain g++ and gcc with pkg-config, shared and static, by Meson, and by CMake. Checks the libraries too: their name,
their symbols. Prints TAP. usage: install_test.py --build DIR --source DIR --cxx COMMAND... --cc COMMAND...
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


MOST_STATIC_TLS = 256

# The programs that are installed, by the folder of the build that has them.
BUILT = {'fult-info': 'tools', 'fult-comm-info': 'tools', 'fult-run': 'launcher', 'fult-omp': 'omp', 'fult-mpi': 'mpi'}


class Failure(Exception):
    pass


def run(command, **options):
    """A command's standard output; Failure with all its output if it does not succeed."""
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise Failure(f'$ {" ".join(map(str, command))}\n{result.stdout}{result.stderr}exit status {result.returncode}')
    return result.stdout


def one(pattern, directory):
    found = sorted(directory.rglob(pattern))
    if len(found) != 1:
        raise Failure(f'expected one {pattern} below {directory}, found {found}')
    return found[0]


class Installed:
    """The staged tree and the commands that use it."""

    def __init__(self, options, scratch):
        self.options = options
        self.scratch = scratch
        self.stage = scratch / 'stage'
        run(['meson', 'install', '-C', options.build, '--no-rebuild', '--quiet', '--destdir', self.stage])
        self.pc = one('fult.pc', self.stage)
        self.libdir = self.pc.parent.parent
        self.consumer = scratch / 'consumer'
        shutil.copytree(options.source / 'tests' / 'install' / 'consumer', self.consumer)
        # LD_LIBRARY_PATH is needed because the installation is not in /usr.
        self.environment = {**os.environ, 'PKG_CONFIG_PATH': str(self.pc.parent), 'LD_LIBRARY_PATH': str(self.libdir),
                            'CXX': ' '.join(options.cxx), 'CC': ' '.join(options.cc)}
        self.environment.pop('DESTDIR', None)

    def pkg_config(self, *arguments):
        return run(['pkg-config', *arguments, 'fult'], env=self.environment).split()

    def build_and_run(self, name, compiler, source, flags):
        program = self.scratch / name
        run([*compiler, '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-o', program, self.consumer / source, *flags],
            env=self.environment)
        run([program], env=self.environment)
        return program


def relocated(tree):
    """Every path in fult.pc lies in the staged tree, wherever that is."""
    paths = [flag[2:] for flag in tree.pkg_config('--cflags-only-I', '--libs-only-L') if flag[:2] in ('-I', '-L')]
    outside = [p for p in paths if not Path(p).resolve().is_relative_to(tree.stage.resolve())]
    if not paths or outside:
        raise Failure(f'fult.pc points at {outside or "nothing"}, not into the installed tree')
    if re.search(r'/lib\S*\.(so|a)\b', tree.pc.read_text()):
        raise Failure(f'fult.pc names a library file by its path; it would hold on this machine only:\n{tree.pc.read_text()}')


def plain_shared(tree):
    flags = tree.pkg_config('--cflags', '--libs')
    program = tree.build_and_run('shared', [*tree.options.cxx, '-std=c++20'], 'main.cpp', flags)
    if 'libfult.so.0' not in run(['ldd', program], env=tree.environment):
        raise Failure('the program was to be linked with libfult.so.0')


def plain_static(tree):
    flags = ['-l:libfult.a' if f == '-lfult' else f for f in tree.pkg_config('--cflags', '--libs', '--static')]
    program = tree.build_and_run('static', [*tree.options.cxx, '-std=c++20'], 'main.cpp', flags)
    if 'libfult' in run(['ldd', program], env=tree.environment):
        raise Failure('the program was to be linked with libfult.a')


def plain_c(tree):
    tree.build_and_run('c_shared', [*tree.options.cc, '-std=c11'], 'main.c', tree.pkg_config('--cflags', '--libs'))


def by_meson(tree):
    build = tree.scratch / 'meson'
    run(['meson', 'setup', build, tree.consumer], env=tree.environment)
    run(['meson', 'test', '-C', build, '--print-errorlogs'], env=tree.environment)


def by_cmake(tree):
    if not shutil.which('cmake'):
        return 'no cmake here; tools/setup check installs it'
    build = tree.scratch / 'cmake'
    run(['cmake', '-G', 'Ninja', '-S', tree.consumer, '-B', build], env=tree.environment)
    run(['cmake', '--build', build], env=tree.environment)
    run(['ctest', '--test-dir', build, '--output-on-failure', '--no-tests=error'], env=tree.environment)


def shows_only_ours(tree, name, ours, version):
    """A shared library's name and flags, and that it shows nothing but what is ours."""
    file = tree.libdir / f'{name}.so'
    dynamic = run(['readelf', '-dW', file])
    for wanted in (f'[{name}.so.0]', 'NODELETE'):
        if wanted not in dynamic:
            raise Failure(f'{file.name} lacks {wanted}:\n{dynamic}')
    symbols = [line.split(maxsplit=2) for line in run(['nm', '-DC', '--defined-only', file]).splitlines()]
    names = [s[2] for s in symbols if s[1] != 'A']
    foreign = [n for n in names if not re.search(rf'(^|[ :<(&*]){ours}(::|_)', n)]
    unversioned = [n for n in names if f'@@{version}' not in n]
    if not names or foreign or unversioned:
        raise Failure(f'{file.name}: {len(names)} symbols; not ours: {foreign}; without a version: {unversioned}')
    return names


def library(tree):
    """libfult.so."""
    shows_only_ours(tree, 'libfult', 'fult', 'FULT_0')


def little_static_tls(tree):
    """Of the loader's reserve for libraries that are loaded late (glibc: 1,664 bytes for all) ours take little."""
    for file in tree.libdir.glob('libfult*.so'):
        sizes = [int(line.split()[5], 16) for line in run(['readelf', '-lW', file]).splitlines() if line.split()[:1] == ['TLS']]
        if sum(sizes) > MOST_STATIC_TLS:
            raise Failure(f'{file.name} has {sum(sizes)} bytes of static TLS, more than {MOST_STATIC_TLS}')


def comm_library(tree):
    """libfult-comm.so, of whose internals nothing shows."""
    if not (tree.libdir / 'libfult-comm.so').exists():
        return 'built without fult-comm'
    names = shows_only_ours(tree, 'libfult-comm', 'fult(::|_)comm', 'FULT_COMM_0')
    inner = [n for n in names if 'fult::comm::detail::device' in n or 'fult::comm::detail::job' in n]
    missing = [n for n in ('fult_comm_send', 'fult_comm_init', 'fult::comm::endpoint::send(')
               if not any(name.startswith(n) for name in names)]
    if inner or missing:
        raise Failure(f'libfult-comm.so shows {inner} and lacks {missing}')


def global_library(tree):
    """libfult-global.so, of whose internals nothing shows."""
    if not (tree.libdir / 'libfult-global.so').exists():
        return 'built without fult-comm'
    names = shows_only_ours(tree, 'libfult-global', 'fult::global', 'FULT_GLOBAL_0')
    inner = [n for n in names if 'fult::global::detail::heap' in n or 'fult::global::detail::memory_state' in n]
    if inner or not any(name.startswith('fult::global::memory::memory(') for name in names):
        raise Failure(f'libfult-global.so shows {inner} of {names}')


def headers(tree):
    """What is installed is what include/ holds, with that of mpi/ where an MPI is found, and includes nothing that is not."""
    include = one('fult', tree.stage / next(p for p in tree.stage.rglob('include')).relative_to(tree.stage))
    sources = [tree.options.source / 'include' / 'fult']
    if any(tree.stage.rglob('bin/fult-mpi')):
        sources.append(tree.options.source / 'mpi' / 'include' / 'fult')
    there = {p.relative_to(include).as_posix() for p in include.rglob('*') if p.is_file()}
    here = {p.relative_to(source).as_posix() for source in sources for p in source.rglob('*') if p.is_file()}
    if there != here:
        raise Failure(f'installed headers differ from those of the source: {sorted(there ^ here)}')
    for name in sorted(there):
        for target in re.findall(r'#\s*include\s*[<"]fult/([^>"]+)', (include / name).read_text()):
            if target not in there:
                raise Failure(f'{name} includes fult/{target}, which is not installed')


def info(tree):
    """fult-info runs from the place of installation."""
    program = one('fult-info', tree.stage)
    text = run([program], env=tree.environment)
    version = tree.pkg_config('--modversion')[0]
    if version not in text:
        raise Failure(f'fult-info does not print the version {version}:\n{text}')


def programs_of_the_build(tree):
    """Before they are installed, the programs run from where README says that they are."""
    installed = {path.name for folder in tree.stage.rglob('bin') for path in folder.iterdir()}
    text = (tree.options.source / 'README.md').read_text()
    for name in sorted(installed):
        program = Path(BUILT.get(name, 'unknown')) / name
        run([tree.options.build / program, '--help'])
        if f'`build/release/{program}`' not in text:
            raise Failure(f'README does not name build/release/{program}')


def messages(tree):
    """The ranks example of README.md, by fult-comm.pc and the installed fult-run."""
    if not list(tree.stage.rglob('fult-comm.pc')):
        return 'built without fult-comm'
    flags = run(['pkg-config', '--cflags', '--libs', 'fult-comm'], env=tree.environment).split()
    program = tree.scratch / 'ranks'
    run([*tree.options.cxx, '-std=c++20', '-o', program, tree.options.source / 'examples' / 'ranks.cpp', *flags],
        env=tree.environment)
    heard = run([one('fult-run', tree.stage), '-n', '2', program], env=tree.environment).splitlines()
    if sorted(heard) != ['rank 0 heard from rank 1', 'rank 1 heard from rank 0']:
        raise Failure(f'two ranks said: {heard}')


def messages_in_c(tree):
    """The same in C, by a C compiler alone, and through the static library."""
    if not list(tree.stage.rglob('fult-comm.pc')):
        return 'built without fult-comm'
    for name, more in (('ranks_c', []), ('ranks_c_static', ['--static'])):
        flags = run(['pkg-config', '--cflags', '--libs', *more, 'fult-comm'], env=tree.environment).split()
        if more:
            # The runtime stays shared: a program may have it once only.
            flags = ['-l:libfult-comm.a' if f == '-lfult-comm' else f for f in flags] + ['-lstdc++', '-lm']
        program = tree.scratch / name
        run([*tree.options.cc, '-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-o', program,
             tree.options.source / 'examples' / 'ranks_c.c', *flags], env=tree.environment)
        heard = run([one('fult-run', tree.stage), '-n', '2', program], env=tree.environment).splitlines()
        if sorted(heard) != [f'rank {r} heard from rank {1 - r}; the sum of all is 1' for r in range(2)]:
            raise Failure(f'two ranks of {name} said: {heard}')


def openmp(tree):
    """The installed fult-omp leads a program that says where the compiler's library is to the one beside it."""
    found = list(tree.stage.rglob('bin/fult-omp'))
    if not found:
        return 'built without OpenMP'
    source, program = tree.scratch / 'openmp.c', tree.scratch / 'openmp'
    source.write_text('#include <omp.h>\nint main(void) { return omp_in_parallel(); }\n')
    theirs = Path(run([*tree.options.cc, '-print-file-name=libgomp.so']).strip()).resolve().parent
    run([*tree.options.cc, '-fopenmp', source, '-o', program, '-Wl,--disable-new-dtags', f'-Wl,-rpath,{theirs}'])
    used = run([found[0], '--show', program], env=tree.environment).split()
    if [str(path.relative_to(tree.libdir)) for path in map(Path, used)] != ['fult-omp/libgomp.so.1']:
        raise Failure(f'fult-omp --show says {used}, with the installation in {tree.libdir}')
    run([found[0], program], env=tree.environment)


def options_of():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', type=lambda p: Path(p).resolve(), required=True)
    parser.add_argument('--source', type=lambda p: Path(p).resolve(), required=True)
    parser.add_argument('--cxx', nargs='+', required=True)
    parser.add_argument('--cc', nargs='+', required=True)
    return parser.parse_args()


def run_checks(tree, checks):
    """Each check as a line of TAP: a check returns why it is to be skipped, or raises Failure."""
    print(f'1..{len(checks)}')
    failed = 0
    for number, check in enumerate(checks, 1):
        try:
            skip = check(tree)
            print(f'ok {number} {check.__name__}' + (f' # SKIP {skip}' if skip else ''), flush=True)
        except (Failure, subprocess.TimeoutExpired) as failure:
            failed += 1
            print(f'not ok {number} {check.__name__}', flush=True)
            print(f'--- {check.__name__}\n{failure}', file=sys.stderr, flush=True)
    return 1 if failed else 0


def main():
    checks = (headers, library, little_static_tls, comm_library, global_library, relocated, plain_shared, plain_static, plain_c, by_meson, by_cmake, info,
              programs_of_the_build, messages, messages_in_c, openmp)
    with tempfile.TemporaryDirectory(prefix='fult-install-') as scratch:
        return run_checks(Installed(options_of(), Path(scratch)), checks)


if __name__ == '__main__':
    sys.exit(main())
