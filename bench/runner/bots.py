"""The Barcelona OpenMP Tasks Suite (BOTS), unchanged: each compiler's programs on its own runtime, and on ours."""

import collections
import pathlib
import shutil
import statistics
import subprocess
import sys

from .build import Failed, run_quietly, say
from .openmp import COMPILERS, counts_of, threads_text
from .benchmarks import missing_text, values_of
from .rows import Row
from .turns import Contestant

ONCE = pathlib.Path(__file__).with_name("bots_once.py")

# Kernel -> its input: a second or less with the compilers' libraries, but for floorplan and health.
INPUTS = {
    "alignment": ["-f", "inputs/alignment/prot.20.aa"],
    "fft": ["-n", "1048576"],
    "fib": ["-n", "27"],
    "floorplan": ["-f", "inputs/floorplan/input.15"],
    "health": ["-f", "inputs/health/small.input"],
    "nqueens": ["-n", "11"],
    "sort": ["-n", "4194304"],
    "sparselu": ["-n", "50", "-m", "50"],
    "strassen": ["-n", "1024"],
    "uts": ["-f", "inputs/uts/test.input"],
}
INPUT_FILES = "inputs/"  # of the suite


def sources(folder):
    if not (folder / "omp-tasks").is_dir() or not (folder / "configure").is_file():
        raise Failed(f"--bots {folder}: not the sources of BOTS: there is no folder 'omp-tasks' with a file 'configure' beside it")
    return folder.resolve()


def build(folder, directory, compiler):
    """Builds a copy of the suite once, and returns its programs of tasks by name (`fib omp-tasks-tied`)."""
    copy = directory / f"bots-{compiler}"
    if not (copy / "built").exists():
        say(f"building {copy} ...")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".git", "*.o", "bin"))
        (copy / "bin").mkdir()
        run_quietly(["sh", "-c", f"cd '{copy}' && bash ./configure --compiler {compiler}"])
        # A kernel that this compiler refuses is none of ours: the others are built.
        subprocess.run(["make", "-k", "-C", str(copy)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (copy / "built").touch()
    programs = {}
    for path in sorted((copy / "bin").glob(f"*.{compiler}.*omp-tasks*")):
        kernel, _, version = path.name.split(".", 2)
        if kernel in INPUTS:
            programs[kernel, version] = path
    if not programs:
        raise Failed(f"nothing of BOTS could be built by {compiler}; see: make -k -C {copy}")
    return programs


def version_text(version):
    """`omp-tasks-if_clause-tied` -> `if, tied`: what differs among a kernel's programs."""
    words = version.replace("omp-tasks", "").replace("if_clause", "if").split("-")
    return ", ".join(word for word in words if word) or "plain"


def command(path, arguments, library, threads):
    settings = [f"OMP_NUM_THREADS={threads}", *([f"LD_LIBRARY_PATH={library}"] if library else [])]
    inputs = [path.parent.parent / word if word.startswith(INPUT_FILES) else word for word in arguments]
    return ["env", *settings, sys.executable, ONCE, path, *inputs]


class Tally:
    """Ratios and peaks of all programs of a compiler, for each number of threads."""

    def __init__(self):
        self.ratios = collections.defaultdict(dict)
        self.excess = collections.defaultdict(dict)

    def rows(self, compiler):
        for count, ratios in self.ratios.items():
            text = f"{compiler}, {threads_text(count)}"
            mean = statistics.geometric_mean(ratios.values())
            slowest = min(ratios, key=ratios.get)
            say(f"{text}: {len(ratios)} programs; slowest beside its own library: {slowest}")
            yield Row("omp_bots", f"geometric mean, {text}", [mean], "x its own library")
            yield Row("omp_bots", f"slowest, {text}", [ratios[slowest]], "x its own library")
            excess = self.excess[count]
            if excess:
                largest = max(excess, key=excess.get)
                say(f"{text}: most memory beside its own library: {largest}")
                yield Row("omp_bots", f"memory beyond twice its own library's, {text}", [excess[largest]], "MB")


def program_rows(setting, compiler, theirs, name, path, arguments, count, parts, tally):
    contestants = [Contestant((theirs,), command(path, arguments, None, count), peer=True),
                   Contestant(("fult",), command(path, arguments, setting.omp_libraries, count))]
    failed = setting.failed
    found = setting.compete(f"omp_bots {compiler} {name}, {threads_text(count)}", contestants, parts=parts)
    ours, peer = found[("fult",)], found.get((theirs,))
    if ours.error and peer is not None and peer.error:
        setting.failed = failed  # the compiler's work: it fails with its own library as well
    text = f"{name}, {compiler}, {threads_text(count)}"
    seconds = Row("omp_bots", text, [1e3 * s for s in values_of(ours, "seconds")], "ms", theirs,
                  [1e3 * s for s in values_of(peer, "seconds")], speed=True, missing=missing_text(ours))
    peak = Row("omp_bots", f"{text}, memory", values_of(ours, "megabytes"), "MB", theirs, values_of(peer, "megabytes"),
               missing=missing_text(ours))
    if seconds.ratios():
        tally.ratios[count][name] = statistics.median(seconds.ratios())
    if peak.ratios():
        tally.excess[count][name] = peak.median(peak.values) - 2 * peak.median(peak.reference_values)
    yield from (seconds, peak)


def suite(setting):
    if setting.bots is None:
        yield Row("omp_bots", "all", [], "-", missing="needs --bots DIR")
        return
    if setting.omp_libraries is None:
        yield Row("omp_bots", "all", [], "-", missing="not built: the OpenMP libraries")
        return
    folder = sources(setting.bots)
    for theirs, compiler in COMPILERS.items():
        if shutil.which(compiler) is None:
            yield Row("omp_bots", f"all, {compiler}", [], "-", missing="not available")
            continue
        programs = build(folder, setting.directory, compiler)
        counts, tally = counts_of(setting), Tally()
        parts = len(programs) * len(counts) / 4
        for (kernel, version), path in programs.items():
            name = f"{kernel} ({version_text(version)})"
            for count in counts:
                yield from program_rows(setting, compiler, theirs, name, path, INPUTS[kernel], count, parts, tally)
        yield from tally.rows(compiler)


BENCHMARKS = {
    "omp_bots": ("the Barcelona OpenMP Tasks Suite, unchanged; needs --bots", suite),
}
