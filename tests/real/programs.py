"""A real program runs by itself and on FULT, and its results are the same.

Each case is run twice: natively, and by fult-omp, or with ranks by fult-mpi. The lines of both runs are compared, without those that
differ by nature. Both runs show which libraries they had: the first none of FULT's, the second FULT's in place of gcc's OpenMP library.
"""
import itertools
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / 'tools'), str(ROOT / 'tests' / 'support')]

import children
from program_checks import expect, run_checks

INPUTS = HERE / 'inputs'
# The OpenBLAS with OpenMP, whichever the system has chosen.
OPENBLAS = Path(f'/usr/lib/{platform.machine()}-linux-gnu/openblas-openmp')
LAUNCHER = 'mpirun.openmpi'
# FULT's runtime names this variable when it starts, as it does not know it: regions of the program then run on it.
UNKNOWN = 'FULT_REAL_PROGRAM'
STARTED = f'fult: the environment variable {UNKNOWN} is unknown'
STATISTICS = re.compile(r'fult-mpi: rank (\d+): (\d+) operations')
# What would change a run; Meson sets MALLOC_PERTURB_ to any number.
LEFT_OUT = ('LD_', 'GLIBC_', 'MALLOC_', 'OMP_', 'GOMP_', 'KMP_', 'FULT_', 'OMPI_', 'PMIX_', 'OPENBLAS_', 'GMX_', 'R_', 'OCTAVE_')
LAUNCHED = {
    'OMPI_ALLOW_RUN_AS_ROOT': '1',
    'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
    'OMPI_MCA_rmaps_base_oversubscribe': '1',
    'OMPI_MCA_hwloc_base_binding_policy': 'none',
    # Nothing leaves this machine.
    'OMPI_MCA_btl': 'self,vader',
    'OMPI_MCA_oob_tcp_if_include': 'lo',
}


class Missing(Exception):
    """What a test needs and this system lacks, with the remedy."""


@dataclass
class Case:
    """A way to run the program. `results` has a function for each file that is compared, from its text to the lines of it."""
    name: str
    command: list
    results: dict
    threads: int = 2  # of each rank
    ranks: int = 0  # 0: without MPI's launcher


@dataclass
class Program:
    """A program of Debian: {executable or library: its package}, how its inputs are made in a folder, and its cases."""
    name: str
    packages: dict
    prepare: object
    cases: list
    libraries: list = field(default_factory=list)  # parts of paths that each run has loaded


@dataclass
class Build:
    """FULT's launchers, and where outputs are kept."""
    fult_omp: Path
    fult_mpi: Path
    logs: Path

    def is_ours(self, library):
        return Path(library).resolve().is_relative_to(self.fult_omp.parent.parent)


def all_lines(text):
    return text.splitlines()


def lines_without(*patterns, after=None, before=None):
    """A function that drops the lines in which a pattern occurs, those up to a first mark, and those from a second one on."""
    dropped = re.compile('|'.join(patterns))

    def kept(text):
        lines = iter(text.splitlines())
        if after:
            any(after in line for line in lines)  # takes the lines up to the mark
        if before:
            lines = itertools.takewhile(lambda line: before not in line, lines)
        return [line for line in lines if not dropped.search(line)]
    return kept


def first_difference(name, native, ours):
    """The first line in which two lists of lines differ, as a text; empty if they are the same."""
    for number, (left, right) in enumerate(zip([*native, None], [*ours, None]), 1):
        if left != right:
            begin = max(0, len(os.path.commonprefix([left or '', right or ''])) - 80)
            shown = ['the end' if line is None else repr(line[begin:begin + 160]) for line in (left, right)]
            return f'{name}, line {number} of the results: {shown[0]} natively, {shown[1]} on FULT'
    return ''


def compare(case, native, ours):
    """The results of a case in two folders are the same, and there are some."""
    for name, results in case.results.items():
        lines = []
        for folder in (native, ours):
            path = folder / name
            expect(path.exists(), f'there is no {path}')
            lines.append(results(path.read_text(errors='backslashreplace')))
            expect(any(line.strip() for line in lines[-1]), f'{path} holds no results')
        difference = first_difference(name, *lines)
        expect(not difference, f'{difference}\n{native / name}\n{ours / name}')


def libraries_of(folder):
    """The libraries that were initialized, of each process of a run: the loader has listed them."""
    return [re.findall(r'calling init: (/\S+)', path.read_text(errors='replace')) for path in sorted(folder.glob('libraries.*'))]


def is_openmp(library):
    return re.match(r'lib(gomp|omp|iomp5)[.-]', Path(library).name) is not None


def check_native(build, folder):
    """The run had gcc's OpenMP library, and nothing of FULT's."""
    loaded = [library for each in libraries_of(folder) for library in each]
    expect(any(map(is_openmp, loaded)), f'no process of the native run has loaded an OpenMP library: {folder}')
    ours = list(filter(build.is_ours, loaded))
    expect(not ours, f'the native run has loaded {ours}')


def check_ours(build, case, folder, processes):
    """Each rank had FULT's OpenMP library alone and FULT's layer of MPI, and used them."""
    openmp = [[library for library in each if is_openmp(library)] for each in libraries_of(folder)]
    others = [library for each in openmp for library in each if not build.is_ours(library)]
    expect(not others, f'the run on FULT has loaded {others}')
    found = sum(bool(each) for each in openmp)
    expect(found >= processes, f'{found} processes of the run on FULT have loaded its OpenMP library, not {processes}: {folder}')
    errors = (folder / 'errors').read_text(errors='replace').splitlines()
    # Without threads, a rank may do without the runtime.
    started = sum(line.startswith(STARTED) for line in errors)
    expect(started >= processes or case.threads == 1, f'FULT\'s runtime has started in {started} processes, not {processes}: {folder}/errors')
    counts = {rank: int(count) for rank, count in STATISTICS.findall('\n'.join(errors))}
    expect(len(counts) == case.ranks and all(counts.values()), f'operations of MPI by FULT\'s layer, by rank: {counts}, of {case.ranks} ranks')
    unexpected = [line for line in errors if line.startswith('fult') and not line.startswith(STARTED) and not STATISTICS.match(line)]
    expect(not unexpected, f'FULT reports: {unexpected[0] if unexpected else ""}')


def environment(case, folder):
    """The same for both runs, but for what the launchers change."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(LEFT_OUT)}
    more = LAUNCHED if case.ranks else {}
    # Ranks and their threads outnumber the processors.
    more = more | ({'OMP_WAIT_POLICY': 'passive'} if case.ranks else {})
    return kept | more | {'HOME': str(folder), 'LC_ALL': 'C', 'OMP_NUM_THREADS': str(case.threads), 'LD_LIBRARY_PATH': str(OPENBLAS),
                          'LD_DEBUG': 'files', 'LD_DEBUG_OUTPUT': str(folder / 'libraries'), UNKNOWN: '1', 'FULT_MPI_STATS': 'on'}


def run(command, folder, env):
    """Runs a command in a folder, with its output there. Returns its exit status."""
    with open(folder / 'output', 'wb') as output, open(folder / 'errors', 'wb') as errors:
        with children.started([str(word) for word in command], stdout=output, stderr=errors, cwd=folder, env=env) as process:
            return process.wait()


def run_in(folder, inputs, case, launch):
    """Runs a case in a new folder, which has the inputs."""
    shutil.copytree(inputs, folder)
    ranks = [LAUNCHER, '-n', case.ranks] if case.ranks else []
    status = run([*ranks, *launch, *case.command], folder, environment(case, folder))
    expect(status == 0, f'exit status {status} of {" ".join(map(str, [*launch, *case.command]))}; see {folder}/errors\n'
           + ''.join((folder / 'errors').read_text(errors='replace').splitlines(True)[-10:]))


def check_of(case, program, build):
    """The function that tests a case."""
    def check():
        top = build.logs / program.name
        native, ours = top / case.name / 'native', top / case.name / 'fult'
        run_in(native, top / 'inputs', case, [])
        run_in(ours, top / 'inputs', case, [build.fult_mpi if case.ranks else build.fult_omp])
        check_native(build, native)
        check_ours(build, case, ours, case.ranks or 1)
        for folder in (native, ours):
            loaded = [library for each in libraries_of(folder) for library in each]
            for part in program.libraries:
                expect(any(part in library for library in loaded), f'no process has loaded {part}: {folder}')
        compare(case, native, ours)
    check.__name__ = case.name
    return check


def require(program):
    """The executables and the OpenBLAS that the program needs."""
    packages = program.packages | ({LAUNCHER: 'openmpi-bin'} if any(case.ranks for case in program.cases) else {})
    lacking = sorted({package for executable, package in packages.items() if not (shutil.which(executable) or Path(executable).is_file())})
    if not OPENBLAS.is_dir():
        lacking.append('libopenblas0-openmp')
    if lacking:
        raise Missing(f'missing packages: {" ".join(lacking)}; `tools/setup full` installs them')


def prepared(program, folder):
    """Makes the folder of inputs, natively."""
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.mkdir(parents=True)

    def tool(*command):
        words = [str(word) for word in command]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(LEFT_OUT)}
        done = subprocess.run(words, cwd=folder, env=kept | {'HOME': str(folder), 'OMP_NUM_THREADS': '1'}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
        expect(done.returncode == 0, f'{" ".join(words)} in {folder}:\n{done.stdout[-2000:]}')
    program.prepare(folder, tool)


def test(program):
    """Tests a program with the command line FULT_OMP FULT_MPI FOLDER, and prints TAP. Returns the exit status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    build = Build(*(Path(each).resolve() for each in sys.argv[1:]))
    try:
        require(program)
    except Missing as why:
        must = os.environ.get('CI') == 'true'
        print(f'1..1\nnot ok 1 - {why}' if must else f'1..0 # SKIP {why}')
        return 1 if must else 0
    prepared(program, build.logs / program.name / 'inputs')
    return run_checks([check_of(case, program, build) for case in program.cases])
