"""Runs of ten seconds and more: a rate that falls in the course of a run is not seen in a fraction of a second."""

import statistics

from . import comm, openmp
from .benchmarks import missing_text, values_of, workers_text
from .rows import Row

KERNELS = (  # the kernel, arguments of a short run, and of one of about ten seconds
    ("fib", ["-n", 36], ["-n", 44]),
    ("nqueens", ["-n", 12], ["-n", 15]),
    ("uts", ["T1"], ["T1L"]),
)


def against_short_runs(setting):
    """The time of the serial program's, in a long and in a short run."""
    for kernel, *lengths in KERNELS:
        counts = [1] if setting.processors == 1 else [1, setting.workers]
        contestants = []
        for length, arguments in zip(("short", "long"), lengths):
            contestants.append(setting.contestant(kernel, "serial", *arguments, key=("serial", length)))
            for count in counts:
                contestants.append(setting.contestant(kernel, "fult", *arguments, "--workers", count, key=(count, length)))
        found = setting.compete(f"long_runs {kernel}", contestants, rounds=min(setting.rounds, 3), parts=len(KERNELS))
        for count in counts:
            of = {}
            for length in ("short", "long"):
                serial = values_of(found.get(("serial", length)), "seconds")
                of[length] = [s / one for s, one in zip(values_of(found.get((count, length)), "seconds"), serial)]
            yield Row("long_runs", f"{kernel} {lengths[1][-1]}, {workers_text(count)}", of["long"], "x serial",
                      f"{kernel} {lengths[0][-1]}", of["short"], missing=missing_text(found.get((count, "long"))))


# --- what has no serial program: many measurements by one process, the last second against the first

def tenths(contestant, field):
    """The medians of the first and of the last tenth of the measurements, for each turn."""
    first, last = [], []
    for turn in contestant.records if contestant is not None else []:
        values = [record[field] for record in turn]
        size = max(1, len(values) // 10)
        first.append(statistics.median(values[:size]))
        last.append(statistics.median(values[-size:]))
    return first, last


def repeated(setting, what, contestants, field, unit):
    """contestants: (case, contestant), each of about ten seconds."""
    found = setting.compete(f"long_runs {what}", [one for _, one in contestants], rounds=min(setting.rounds, 3))
    for case, one in contestants:
        first, last = tenths(one and found.get(one.key), field)
        yield Row("long_runs", case, last, unit, "its first second", first, missing=missing_text(one))


def measurements(setting, count):
    return ["--rounds", count // 10 if setting.quick else count]


def spawn_and_join(setting):
    one = setting.contestant("spawn_join", "fult", "-n", 512, *measurements(setting, 1000))
    yield from repeated(setting, "spawn_join", [("spawn_join 512, 1 worker", one)], "value", "ns")


def messages(setting):
    case = "messages of 8 B, 2 ranks"
    if setting.processors < 2:
        yield Row("long_runs", case, [], "us", missing="needs two processors")
        return
    one = comm.contestant(setting, "comm_latency", "fult", "--size", 8, "--seconds", 0.1, "--repetitions", 1,
                          *measurements(setting, 40))
    yield from repeated(setting, "messages", [(case, one)], "value", "us")


def openmp_tasks(setting):
    ours = [one for one in openmp.contestants(setting, "fib", ["-n", 30, *measurements(setting, 200)], openmp.counts_of(setting))
            if not one.peer]
    cases = [(f"OpenMP tasks of {openmp.COMPILERS[one.key[0]]}, {openmp.threads_text(one.key[2])}", one) for one in ours]
    yield from repeated(setting, "OpenMP tasks", cases or [("OpenMP tasks", None)], "ns_per_task", "ns a task")


def long_runs(setting):
    for part in (against_short_runs, spawn_and_join, messages, openmp_tasks):
        yield from part(setting)


BENCHMARKS = {
    "long_runs": ("fib, nqueens, uts, spawn and join, messages and OpenMP tasks for ten seconds and more: does the rate fall?",
                  long_runs),
}
