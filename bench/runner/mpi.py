"""The benchmarks of tasks that call an MPI, beside threads that call the same one."""

import shutil

from .benchmarks import missing_text, values_of
from .comm import LAUNCH, LONGEST, cases
from .rows import Row
from .turns import Contestant

TASKS = (1, 8, 64, 1000, 10_000)
THREADS = (1, 8, 64)


def contestant(setting, program, mpi, kind, *arguments, key, peer=False):
    """kind: tasks or threads. None where that program was not built, or its launcher is not here."""
    path = setting.programs.get(f"{program}-{mpi}" + ("_tasks" if kind == "tasks" else ""))
    if path is None or not shutil.which(f"mpiexec.{mpi}"):
        return None
    return Contestant(key, [*LAUNCH[mpi], path, *arguments], peer=peer)


def with_each_mpi(run):
    """The decorated function yields the rows of one MPI."""

    def checked(setting):
        name = run.__name__
        here = [mpi for mpi in LAUNCH if contestant(setting, name, mpi, "tasks", key=())]
        if setting.processors < 2:
            yield Row(name, "all", [], "-", missing="needs two processors")
        elif not here:
            yield Row(name, "all", [], "-", missing="not built: no MPI was found")
        else:
            for mpi in here:
                yield from run(setting, mpi, len(here))

    return checked


@with_each_mpi
def mpi_latency(setting, mpi, parts):
    shorter = ["--repetitions", 1] if setting.quick else []
    contestants = [contestant(setting, "mpi_latency", mpi, kind, *shorter, key=(kind,)) for kind in ("tasks", "threads")]
    found = setting.compete("mpi_latency", contestants, rounds=2 if setting.quick else None, parts=parts)
    bare = cases(found, ("threads",))
    ours = cases(found, ("tasks",))
    if not ours:
        yield Row("mpi_latency", f"{mpi}, all", [], "us", missing=missing_text(found.get(("tasks",))), failed=True)
    for case, values in ours.items():
        yield Row("mpi_latency", f"{mpi}, {case}", values, "us", "one thread", bare.get(case, []), speed=True)


@with_each_mpi
def mpi_rate(setting, mpi, parts):
    contestants = []
    for n in TASKS:
        once = ["--repetitions", 1] if n >= 10_000 else []
        contestants.append(contestant(setting, "mpi_rate", mpi, "tasks", "-n", n, *once, key=("tasks", n)))
        if n in THREADS:
            # A round trip of 64 threads may take half a second.
            fewer = ["--fewest", 1, "--repetitions", 1] if n > 1 else []
            contestants.append(contestant(setting, "mpi_rate", mpi, "threads", "-n", n, *fewer, key=("threads", n), peer=n > 1))
    found = setting.compete("mpi_rate", contestants, rounds=2 if setting.quick else None, parts=parts)

    def row(kind, n, case, reference, peer=False):
        values = values_of(found.get((kind, n)))
        reference_name = f"{reference} thread" + "s" * (reference > 1)
        return Row("mpi_rate", f"{mpi}, {case}", values, "Mmsg/s", reference_name, values_of(found.get(("threads", reference))),
                   missing=missing_text(found.get((kind, n))), peer=peer, failed=not peer and not values)

    for n in TASKS:
        one = f"n = {n}" if n == 1 else f"n = {n}, against one thread"
        yield row("tasks", n, one, 1)
        if n in THREADS and n > 1:
            ended = bool(values_of(found.get(("threads", n))))
            yield row("tasks", n, f"n = {n}" if ended else f"n = {n}, threads not done in {LONGEST} s", n)
    for n in THREADS:
        if n > 1:
            yield row("threads", n, f"threads, n = {n}", 1, peer=True)


BENCHMARKS = {
    "mpi_latency": ("MPI's ping-pong of a task, 8 bytes to 4 MiB", mpi_latency),
    "mpi_rate": ("1 to 10,000 tasks per rank that call MPI", mpi_rate),
}
