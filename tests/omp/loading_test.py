#!/usr/bin/env python3
"""Programs get FULT's OpenMP library by fult-omp wherever they would look for the compiler's; where not, fult-omp reports it.

usage: loading_test.py FULT_OMP SOURCE [FULT_MPI]
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FULT_OMP, SOURCE, *MPI = (Path(each).resolve() for each in sys.argv[1:])
OURS = FULT_OMP.parent
UNPRIVILEGED = 65534
for name in ('LD_LIBRARY_PATH', 'LD_PRELOAD', 'LD_AUDIT', 'GLIBC_TUNABLES'):
    os.environ.pop(name, None)


class Skipped(Exception):
    pass


def run(*command, **options):
    got = subprocess.run([str(each) for each in command], capture_output=True, text=True, **options)
    return got.returncode, got.stdout, got.stderr


def check(condition, got):
    if not condition:
        raise AssertionError(f'unexpected: {got}')


def compiled(output, *options, compiler='gcc', source=SOURCE, openmp='-fopenmp'):
    if not shutil.which(compiler):
        raise Skipped(f'no {compiler} here')
    code, _, err = run(compiler, '-O1', *openmp.split(), source, '-o', output, *options, '-ldl', '-pthread')
    if code != 0:
        raise Skipped(f'{compiler} {" ".join(map(str, options))} does not compile it here: {err.strip().splitlines()[-1]}')
    return output


def library_of(compiler, name):
    if not shutil.which(compiler):
        raise Skipped(f'no {compiler} here')
    path = Path(run(compiler, f'-print-file-name={name}')[1].strip())
    if not path.is_absolute():
        raise Skipped(f'{compiler} has no {name}')
    return path.resolve()


def renamed(library, old, new, output):
    """A copy of a library by another name, as tools that pack libraries make it. The name may not become longer."""
    old, new = (each.encode() + b'\0' for each in (old, new))
    text = library.read_bytes()
    if text.count(old) == 0:
        raise Skipped(f'{library} does not have its name')
    output.write_bytes(text.replace(old, new.ljust(len(old), b'\0')))
    output.chmod(0o755)
    return output


def libraries_in(out):
    """What the program says, and not of which file of ours by which link."""
    return [Path(line.strip()).resolve() for line in out.splitlines() if line.startswith('/')]


def has_ours(got, *names):
    code, out, err = got
    check(code == 0 and sorted(libraries_in(out)) == sorted((OURS / each).resolve() for each in names), got)
    check(err == '' and out.endswith('secure 0\n'), got)


def shows_ours(program, *names):
    code, out, err = got = run(FULT_OMP, '--show', program)
    check(code == 0 and sorted(libraries_in(out)) == sorted((OURS / each).resolve() for each in names), got)


def plain(folder):
    for compiler, name in (('gcc', 'libgomp.so.1'), ('clang-14', 'libomp.so.5')):
        program = compiled(folder / 'plain', compiler=compiler)
        has_ours(run(FULT_OMP, program), name)
        has_ours(run(FULT_OMP, 'plain', env={**os.environ, 'PATH': f'{folder}:{os.environ["PATH"]}'}), name)
        has_ours(run(FULT_OMP, './plain', cwd=folder), name)
        has_ours(run(FULT_OMP, FULT_OMP, program), name)
        has_ours(run(FULT_OMP, '--quiet', program), name)
        shows_ours(program, name)


def rpath(folder):
    """DT_RPATH, which the loader prefers to LD_LIBRARY_PATH."""
    for compiler, name in (('gcc', 'libgomp.so.1'), ('clang-14', 'libomp.so.5')):
        program = compiled(folder / 'rpath', '-Wl,--disable-new-dtags', f'-Wl,-rpath,{library_of(compiler, name).parent}',
                           compiler=compiler)
        check('(RPATH)' in run('readelf', '-d', program)[1], program)
        has_ours(run(FULT_OMP, program), name)
        shows_ours(program, name)


def script_with_another_path(folder):
    program = compiled(folder / 'program')
    shutil.copy(library_of('gcc', 'libgomp.so.1'), folder / 'libgomp.so.1')
    script = folder / 'script'
    for change in (f'LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH', f'LD_LIBRARY_PATH={folder}', 'unset LD_LIBRARY_PATH'):
        script.write_text(f'#!/bin/sh\n{change}\nexport LD_LIBRARY_PATH\n{program}\n')
        script.chmod(0o755)
        has_ours(run(FULT_OMP, script), 'libgomp.so.1')
    code, _, err = got = run(FULT_OMP, '--show', script)
    check(code == 2 and 'is not linked to libgomp.so.1 or libomp.so.5' in err, got)


def packed_name(folder):
    """libgomp-a34b3233.so.1.0.0 and its like, which Python's packages bring."""
    library = renamed(library_of('gcc', 'libgomp.so.1'), 'libgomp.so.1', 'libgomp-a.so', folder / 'libgomp-a.so')
    part = folder / 'part.o'
    compiled(part, '-c')
    code, _, err = run('gcc', part, '-o', folder / 'packed', library, f'-Wl,-rpath,{folder}', '-ldl', '-pthread')
    check(code == 0, err)
    check(libraries_in(run(folder / 'packed')[1]) == [library], library)
    has_ours(run(FULT_OMP, folder / 'packed'), 'libgomp.so.1')
    shows_ours(folder / 'packed', 'libgomp.so.1')


def upstream_name(folder):
    """LLVM's own libomp is libomp.so; Debian's, libomp.so.5."""
    library = renamed(library_of('clang-14', 'libomp.so.5'), 'libomp.so.5', 'libomp.so', folder / 'libomp.so')
    part = compiled(folder / 'part.o', '-c', compiler='clang-14')
    code, _, err = run('clang-14', part, '-o', folder / 'upstream', library, f'-Wl,-rpath,{folder}', '-ldl', '-pthread')
    check(code == 0, err)
    has_ours(run(FULT_OMP, folder / 'upstream'), 'libomp.so.5')


def many_names(folder):
    """The same library by several names in one process, in each order, linked and loaded: the loader finds each version."""
    theirs = library_of('gcc', 'libgomp.so.1')
    parts = []
    for each in 'abc':
        library = renamed(theirs, 'libgomp.so.1', f'libgomp-{each}.so', folder / f'libgomp-{each}.so')
        part = compiled(folder / f'{each}.o', '-c', '-fPIC', '-DAS_LIBRARY', '-DMEMBERS=members_of_library')
        parts.append(folder / f'part_{each}.so')
        check(run('gcc', '-shared', part, library, f'-Wl,-rpath,{folder}', '-o', parts[-1])[0] == 0, parts)
    parts.append(compiled(folder / 'part.so', '-shared', '-fPIC', '-DAS_LIBRARY', '-DMEMBERS=members_of_library'))
    text = ('import ctypes, sys\nfor each in sys.argv[1:]:\n    library = ctypes.CDLL(each)\n'
            '    assert each.startswith("libgomp") or "omp" in each or library.members_of_library() == 3\n'
            'print(*{l.split()[-1] for l in open("/proc/self/maps") if "gomp" in l}, sep="\\n")')
    wanted = [*parts, theirs, 'libgomp.so.1']
    for order in (wanted, wanted[::-1], wanted[2:] + wanted[:2], wanted[3:] + wanted[:3]):
        code, out, err = got = run(FULT_OMP, sys.executable, '-c', text, *order)
        check(code == 0 and libraries_in(out) == [(OURS / 'libgomp.so.1').resolve()], got)
    for order in (parts, parts[::-1]):
        program = compiled(folder / 'program', '-Wl,--no-as-needed', *order)
        has_ours(run(FULT_OMP, program), 'libgomp.so.1')


def both_compilers(folder):
    part = compiled(folder / 'part.o', '-c', '-DAS_LIBRARY', '-DMEMBERS=members_of_clang', compiler='clang-14')
    library = library_of('clang-14', 'libomp.so.5')
    program = compiled(folder / 'both', '-DOTHER=members_of_clang', part, '-Wl,--no-as-needed', '-lgomp', library, '-Wl,--disable-new-dtags',
                       f'-Wl,-rpath,{library.parent}:{library_of("gcc", "libgomp.so.1").parent}')
    has_ours(run(FULT_OMP, program), 'libgomp.so.1', 'libomp.so.5')
    shows_ours(program, 'libgomp.so.1', 'libomp.so.5')


def loaded_later(folder):
    """With its own symbols first; and by a library's path, in a program without OpenMP."""
    theirs = library_of('gcc', 'libgomp.so.1')
    library = compiled(folder / 'later.so', '-shared', '-fPIC', '-DAS_LIBRARY', '-DMEMBERS=members_of_library',
                       '-Wl,--disable-new-dtags', f'-Wl,-rpath,{theirs.parent}')
    has_ours(run(FULT_OMP, compiled(folder / 'program'), library), 'libgomp.so.1')
    os.symlink(theirs, folder / 'libgomp-b.so')
    for each in (theirs, folder / 'libgomp-b.so'):
        code, out, err = got = run(FULT_OMP, sys.executable, '-c', f'import ctypes\nprint(ctypes.CDLL("{each}").omp_get_max_threads())\n'
                                   'print(*{l.split()[-1] for l in open("/proc/self/maps") if "gomp" in l}, sep="\\n")')
        check(code == 0 and libraries_in(out) == [(OURS / 'libgomp.so.1').resolve()], got)


def two_libraries(folder):
    """By LD_LIBRARY_PATH alone, a process may have two. Then ours reports it, once."""
    other = renamed(library_of('gcc', 'libgomp.so.1'), 'libgomp.so.1', 'libgomp-a.so', folder / 'libgomp-a.so')
    part = compiled(folder / 'part.o', '-c', '-fPIC', '-DAS_LIBRARY', '-DMEMBERS=members_of_library')
    code, _, err = run('gcc', '-shared', part, other, f'-Wl,-rpath,{folder}', '-o', folder / 'later.so')
    check(code == 0, err)
    program = compiled(folder / 'program')
    code, out, err = got = run(program, folder / 'later.so', env={**os.environ, 'LD_LIBRARY_PATH': str(OURS)})
    check(code == 0 and err.count(f'fult-omp: {other} is loaded beside') == 1, got)
    has_ours(run(FULT_OMP, program, folder / 'later.so'), 'libgomp.so.1')


def static(folder):
    for options in (['-static'], ['-static-pie'], ['-l:libgomp.a']): # the last is a program of the loader's
        part = compiled(folder / 'part.o', '-c')
        program = compiled(folder / 'static', *options, source=part, openmp='-fopenmp' if '-l' not in options[0] else '')
        code, out, err = got = run(FULT_OMP, program)
        check(code == 0 and out == run(program)[1] and 'has an OpenMP library linked into it' in err, got)
        code, out, err = got = run(FULT_OMP, '--quiet', program)
        check(code == 0 and err == '', got)
        code, out, err = got = run(FULT_OMP, '--show', program)
        check(code == 1 and 'link it without -static' in err, got)
    code, out, err = got = run(FULT_OMP, 'true')
    check((code, out, err) == (0, '', ''), got)


def others_read_the_build():
    try:
        return run(FULT_OMP, '--path', user=UNPRIVILEGED)[0] == 0
    except PermissionError:
        return False


def set_user_id(folder):
    if os.geteuid() != 0:
        raise Skipped('only root makes a program that has the rights of another')
    folder.chmod(0o755)
    program = compiled(folder / 'program')
    os.chown(program, UNPRIVILEGED, UNPRIVILEGED)
    program.chmod(0o4755)
    if 'secure 1' not in run(program)[1]:
        raise Skipped('programs do not get the rights of their owner here')
    code, out, err = got = run(FULT_OMP, program)
    check(code == 0 and libraries_in(out) == [library_of('gcc', 'libgomp.so.1')], got)
    check('has the rights of another user' in err and '-Wl,-rpath,' in err and err.count('\n') == 1, got)
    code, out, err = got = run(FULT_OMP, '--show', program)
    check(code == 1 and libraries_in(out) == [library_of('gcc', 'libgomp.so.1')], got)
    linked = compiled(folder / 'linked', f'-Wl,-rpath,{OURS}') # the remedy
    os.chown(linked, UNPRIVILEGED, UNPRIVILEGED)
    linked.chmod(0o4755)
    code, out, err = got = run(FULT_OMP, '--show', linked)
    check(code == 0 and err == '' and libraries_in(out) == [(OURS / 'libgomp.so.1').resolve()], got)
    if others_read_the_build():
        code, out, err = got = run(FULT_OMP, linked)
        check(code == 0 and err == '' and libraries_in(out) == [(OURS / 'libgomp.so.1').resolve()], got)


def capabilities(folder):
    setcap = shutil.which('setcap', path=os.environ['PATH'] + ':/usr/sbin:/sbin')
    if os.geteuid() != 0 or not setcap:
        raise Skipped('not root, or no setcap here')
    if not others_read_the_build():
        raise Skipped('another user cannot read the build')
    folder.chmod(0o755)
    program = compiled(folder / 'program')
    if run(setcap, 'cap_sys_nice=ep', program)[0] != 0:
        raise Skipped('files have no capabilities here')
    code, out, err = got = run(FULT_OMP, program, user=UNPRIVILEGED)
    if 'secure 0' in out:
        raise Skipped('capabilities of files have no effect here')
    check(code == 0 and 'or capabilities' in err, got)


def other_processor(folder):
    program = compiled(folder / 'program', '-m32')
    code, out, err = got = run(FULT_OMP, '--show', program)
    check(code == 1 and 'another kind of processor' in err, got)


def another_vendor(folder):
    """Intel's library has LLVM's functions and a name of its own."""
    library = renamed(library_of('clang-14', 'libomp.so.5'), 'libomp.so.5', 'libiomp5.so', folder / 'libiomp5.so')
    part = compiled(folder / 'part.o', '-c', compiler='clang-14')
    code, _, err = run('clang-14', part, '-o', folder / 'program', library, f'-Wl,-rpath,{folder}', '-ldl', '-pthread')
    check(code == 0, err)
    code, out, err = got = run(FULT_OMP, folder / 'program')
    check(code == 0 and f'loads {library}, in whose place fult-omp has no library here' in err, got)
    code, out, err = got = run(FULT_OMP, '--show', folder / 'program')
    check(code == 1 and out == f'{library}\n', got)


def environment_of_the_program(folder):
    """What is there stays there, behind ours."""
    given = {**os.environ, 'LD_PRELOAD': '/own/preload.so', 'LD_LIBRARY_PATH': '/own/path', 'GLIBC_TUNABLES': 'glibc.malloc.check=0'}
    code, out, err = got = run(FULT_OMP, 'env', env=given)
    found = dict(line.split('=', 1) for line in out.splitlines() if '=' in line)
    check(code == 0 and found['LD_PRELOAD'] == '/own/preload.so' and found['LD_LIBRARY_PATH'].endswith(':/own/path'), got)
    check(found['GLIBC_TUNABLES'].startswith('glibc.malloc.check=0:'), got)
    given['LD_AUDIT'] = '/own/audit.so'
    code, out, err = got = run(FULT_OMP, '--preload', '/layer.so', 'env', env=given)
    check('LD_PRELOAD=/layer.so:/own/preload.so\n' in out and ':/own/audit.so\n' in out, got)


def odd_folders(folder):
    """An installation in a folder with a space, and with what the loader separates by."""
    program = compiled(folder / 'program', '-Wl,--disable-new-dtags', f'-Wl,-rpath,{library_of("gcc", "libgomp.so.1").parent}')
    for name, ends in (('with a space', 0), ('with:colon', 2)):
        place = folder / name / 'omp'
        place.mkdir(parents=True)
        for each in OURS.glob('*.so*'):
            if each.is_file():
                os.symlink(each, place / each.name)
        os.symlink(OURS.parent / 'fult', place.parent / 'fult')
        launcher = shutil.copy(FULT_OMP, place)
        code, out, err = got = run(launcher, program)
        check(code == ends, got)
        if code == 0:
            has_ours(got, 'libgomp.so.1')
        else:
            check(err.startswith('fult-omp: the loader cannot be led to ') and 'install FULT elsewhere' in err, got)


def thread_local_memory(folder):
    """With LD_AUDIT, the thread-local variables of libraries have to fit a reserve."""
    for size in (3000, 300000):
        source = folder / 'large.c'
        source.write_text(f'__thread char large[{size}] __attribute__((tls_model("initial-exec"))); char *get(void) {{ return large; }}')
        compiled(folder / 'large.so', '-shared', '-fPIC', source=source, openmp='')
        program = compiled(folder / 'program', '-Wl,--no-as-needed', folder / 'large.so')
        code, out, err = got = run(FULT_OMP, program) # a thread with a small stack may not start with that much
        check(code in (0, 4) if size > 3000 else code == 0, got)
        shows_ours(program, 'libgomp.so.1')


def sanitizers(folder):
    for name in ('address', 'thread'):
        program = compiled(folder / 'program', f'-fsanitize={name}')
        shows_ours(program, 'libgomp.so.1')
    program = compiled(folder / 'program', '-fsanitize=address')
    has_ours(run(FULT_OMP, program, env={**os.environ, 'ASAN_OPTIONS': 'detect_leaks=0'}), 'libgomp.so.1')


def mpi_script(folder):
    """fult-mpi --mpi NAME SCRIPT: the script's programs have both libraries."""
    if not MPI or not (MPI[0].parent / 'libfult-mpi-mpich.so').exists():
        raise Skipped('built without the layer for MPICH')
    program = compiled(folder / 'program', '-Wl,--disable-new-dtags', f'-Wl,-rpath,{library_of("gcc", "libgomp.so.1").parent}')
    script = folder / 'script'
    script.write_text(f'#!/bin/sh\ngrep -o "/.*libfult-mpi-mpich.so" /proc/self/maps | sort -u >&2\n{program}\n')
    script.chmod(0o755)
    code, out, err = got = run(MPI[0], '--mpi', 'mpich', script)
    check(code == 0 and libraries_in(out) == [(OURS / 'libgomp.so.1').resolve()] and 'libfult-mpi-mpich.so' in err, got)
    code, out, err = got = run(MPI[0], '--show', '--mpi', 'mpich', script)
    check(code == 0 and out.splitlines()[1:] == [str(OURS)], got)


def main():
    checks = (plain, rpath, script_with_another_path, packed_name, upstream_name, many_names, both_compilers, loaded_later, two_libraries, static,
              set_user_id, capabilities, other_processor, another_vendor, environment_of_the_program, odd_folders, thread_local_memory, sanitizers,
              mpi_script)
    print(f'1..{len(checks)}')
    failed = 0
    for number, each in enumerate(checks, 1):
        with tempfile.TemporaryDirectory(prefix='fult-loading-') as folder:
            try:
                each(Path(folder))
                print(f'ok {number} {each.__name__}', flush=True)
            except Skipped as why:
                print(f'ok {number} {each.__name__} # SKIP {why}', flush=True)
            except AssertionError as failure:
                failed += 1
                print(f'not ok {number} {each.__name__}', flush=True)
                print(f'--- {each.__name__}\n{failure}', file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
