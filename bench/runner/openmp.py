"""Programs of OpenMP: each compiler's on its own runtime, and on ours in its place."""

import statistics

from .benchmarks import missing_text, values_of
from .rows import Row
from .turns import Contestant

# The runtime that comes with a compiler -> the compiler.
COMPILERS = {"libgomp": "gcc", "libomp": "clang"}

# Kernel -> the program's name before the runtime's, and its arguments.
TREES = {
    "fib": ("fib", ["-n", 30]),
    "nqueens": ("nqueens", ["-n", 11]),
    "uts": ("uts", ["T1"]),
    "sort": ("omp", ["sort"]),
    "fft": ("omp", ["fft"]),
    "strassen": ("omp", ["strassen"]),
    "sparse_lu": ("omp", ["sparse_lu"]),
    "simulation": ("omp", ["simulation"]),
}
CHAINS = {"cholesky": ("omp", ["cholesky"]), "wavefront": ("omp", ["wavefront"])}
IN_MEAN = [name for name in TREES if name != "fib"]


def threads_text(count):
    return "1 thread" if count == 1 else f"{count} threads"


def contestants(setting, program, arguments, threads):
    """Keys: (runtime of the compiler, where it runs: itself or "fult", threads)."""
    for theirs in COMPILERS:
        path = setting.programs.get(f"{program}-{theirs}")
        if path is None:
            continue
        ours = setting.omp_libraries
        for count in threads:
            command = [path, *arguments, "--workers", count]
            if ours is not None:
                yield Contestant((theirs, "fult", count), ["env", f"LD_LIBRARY_PATH={ours}", *command])
            yield Contestant((theirs, theirs, count), command, peer=True)


def better(found, count, read):
    """The faster one of the compilers' own runtimes, and its values."""
    own = {name: read(found.get((name, name, count))) for name in COMPILERS}
    own = {name: values for name, values in own.items() if values}
    if not own:
        return "-", []
    return min(own.items(), key=lambda pair: statistics.median(pair[1]))


def milliseconds(contestant):
    return [1e3 * seconds for seconds in values_of(contestant, "seconds")]


def counts_of(setting):
    return [1] if setting.processors == 1 else [1, setting.workers]


def kernel_rows(setting, benchmark, kernel, program, arguments, parts, ratios):
    counts = counts_of(setting)
    found = setting.compete(f"{benchmark} {kernel}", list(contestants(setting, program, arguments, counts)), parts=parts)
    for count in counts:
        name, reference = better(found, count, milliseconds)
        for theirs, compiler in COMPILERS.items():
            ours = found.get((theirs, "fult", count))
            row = Row(benchmark, f"{kernel}, {compiler}, {threads_text(count)}", milliseconds(ours), "ms", name, reference,
                      speed=True, missing=missing_text(ours))
            if row.ratios():
                ratios.setdefault((compiler, count), {})[kernel] = statistics.median(row.ratios())
            yield row
        for theirs in COMPILERS:
            peer = found.get((theirs, theirs, count))
            yield Row(benchmark, f"{theirs}, {kernel}, {threads_text(count)}", milliseconds(peer), "ms",
                      missing=missing_text(peer), peer=True)


def kernels(benchmark, table, in_mean=()):
    def run(setting):
        ratios = {}
        for kernel, (program, arguments) in table.items():
            yield from kernel_rows(setting, benchmark, kernel, program, arguments, len(table) / 2, ratios)
        for (compiler, count), of in ratios.items():
            if in_mean and all(kernel in of for kernel in in_mean):
                mean = statistics.geometric_mean(of[kernel] for kernel in in_mean)
                yield Row(benchmark, f"geometric mean, {compiler}, {threads_text(count)}", [mean], "x the better one")

    return run


def overheads(setting):
    if setting.processors < 2:
        yield Row("omp_overheads", "all", [], "-", missing="needs two processors")
        return
    count = setting.workers
    found = setting.compete("omp_overheads", list(contestants(setting, "omp", ["overheads"], [count])))
    first = next((c for c in found.values() if c.records), None)
    for record in first.records[0] if first else []:
        case = record["case"]

        def read(contestant, case=case):
            return values_of(contestant, case=case)

        name, reference = better(found, count, read)
        if "nested" in case:
            name, reference = "libgomp", read(found.get(("libgomp", "libgomp", count)))
        for theirs, compiler in COMPILERS.items():
            ours = found.get((theirs, "fult", count))
            yield Row("omp_overheads", f"{case}, {compiler}", read(ours), "us", name, reference, speed="nested" in case,
                      missing=missing_text(ours))
        for theirs in COMPILERS:
            peer = found.get((theirs, theirs, count))
            yield Row("omp_overheads", f"{theirs}, {case}", read(peer), "us", missing=missing_text(peer), peer=True)


def hpccg(setting):
    counts = [setting.workers if setting.processors > 1 else 1]
    arguments = ["-n", 64]
    all_of = list(contestants(setting, "hpccg", arguments, counts))
    all_of.append(setting.contestant("hpccg", "fult", *arguments, "--workers", counts[0], key=("loops", "fult", counts[0])))
    found = setting.compete("omp_hpccg", all_of)
    name, reference = better(found, counts[0], milliseconds)
    for key, case in (*((theirs, f"64^3, {compiler}") for theirs, compiler in COMPILERS.items()),
                      ("loops", "64^3, the runtime's own loops")):
        ours = found.get((key, "fult", counts[0]))
        yield Row("omp_hpccg", case, milliseconds(ours), "ms", name, reference, speed=True, missing=missing_text(ours))


BENCHMARKS = {
    "omp_tasks": ("kernels of OpenMP tasks, compiled by gcc and clang", kernels("omp_tasks", TREES, IN_MEAN)),
    "omp_depend": ("a million OpenMP tasks with depend clauses", kernels("omp_depend", CHAINS)),
    "omp_overheads": ("costs of OpenMP constructs, by EPCC's definitions", overheads),
    "omp_hpccg": ("conjugate gradients on 64^3 points with OpenMP's loops, and with the runtime's", hpccg),
}
