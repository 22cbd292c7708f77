"""The benchmarks of two ranks: the participants, how each is started, and the rows of the results."""

import os
import pathlib
import shutil
import sys

from .benchmarks import micro_rows, missing_text, values_of
from .rows import Row
from .turns import Contestant

LONGEST = 30  # seconds after which the launcher of an MPI ends what it started

# Each rank on a core of its own, as fult-run does it without being asked.
LAUNCH = {
    "mpich": ["env", f"MPIEXEC_TIMEOUT={LONGEST}", "mpiexec.mpich", "-n", 2, "-bind-to", "core"],
    "openmpi": ["mpiexec.openmpi", *(["--allow-run-as-root"] if os.geteuid() == 0 else []),
                "-n", 2, "--bind-to", "core", "--timeout", LONGEST],
}
NETWORK = ("env", "FULT_COMM_SAME_HOST=none")  # as between hosts, though the two are on one
BARE = "libfabric alone"


def contestant(setting, program, version, *arguments, key=None, before=()):
    """None where that program was not built, or its launcher is not here."""
    path = setting.programs.get(f"{program}-{version}")
    launch = LAUNCH.get(version, [])
    if version == "fult":
        launch = [setting.programs.get("fult-run", "fult-run"), "-n", 2]
    if path is None or any(word.startswith("mpiexec.") and not shutil.which(word) for word in map(str, launch)):
        return None
    return Contestant(key or (version,), [*before, *launch, path, *arguments], peer=version in LAUNCH)


def two_ranks(run):
    """The decorated function yields a name's rows, where two ranks can run at once."""

    def checked(setting):
        name = run.__name__
        if setting.processors < 2:
            yield Row(name, "all", [], "-", missing="needs two processors")
        elif f"{name.replace('shuffle', 'burst')}-fult" not in setting.programs:
            yield Row(name, "all", [], "-", missing="not built: libfabric was not found")
        else:
            yield from run(setting)

    return checked


def cases(found, key, **wanted):
    """case -> values, in the order of the program's output."""
    one = found.get(key)
    if one is None or not one.records:
        return {}
    return {record["case"]: values_of(one, case=record["case"], **wanted) for record in one.records[0]}


def beside(name, prefix, found, key, unit, reference="-", reference_key=None):
    """The rows of one contestant, each beside the same case of another one."""
    one = found.get(key)
    if one is None:
        return
    ours = key[0] == "fult"
    if not one.records:
        yield Row(name, f"{prefix}all", [], unit, missing=missing_text(one), peer=not ours, failed=ours)
    theirs = cases(found, reference_key, benchmark=name)
    for case, values in cases(found, key, benchmark=name).items():
        yield Row(name, f"{prefix}{case}", values, unit, reference if case in theirs else "-",
                  theirs.get(case, []), peer=not ours)


# --- messages of 8 bytes to 4 MiB

def of_sizes(setting, name):
    def one(version, *arguments, **more):
        shorter = ["--repetitions", 1] if setting.quick else []
        return contestant(setting, name, version, *shorter, *arguments, **more)

    contestants = [
        one("fult", key=("fult", "shm")),
        one("libfabric", key=("libfabric", "shm")),
        one("mpich"),
        one("openmpi"),
        one("fult", key=("fult", "net"), before=NETWORK),
        one("libfabric", "--provider", "net", key=("libfabric", "net")),
    ]
    if shutil.which("fi_pingpong"):
        script = pathlib.Path(__file__).resolve().parent.parent / "comm" / "fi_pingpong.py"
        contestants.insert(2, Contestant(("fi_pingpong",), [sys.executable, script, "shm"]))
    return setting.compete(name, contestants, rounds=2 if setting.quick else None)


def other_sizes(name, found, unit):
    """What is there for information."""
    yield from beside(name, "net, ", found, ("fult", "net"), unit, BARE, ("libfabric", "net"))
    for version in ("fi_pingpong", "mpich", "openmpi"):
        yield from beside(name, f"{version}, ", found, (version,), unit, BARE, ("libfabric", "shm"))


@two_ranks
def comm_latency(setting):
    found = of_sizes(setting, "comm_latency")
    yield from beside("comm_latency", "", found, ("fult", "shm"), "us", BARE, ("libfabric", "shm"))
    smallest = [cases(found, (version, "shm")).get("8 B", []) for version in ("fult", "libfabric")]
    more = [1000 * (ours - bare) for ours, bare in zip(*smallest)]
    yield Row("comm_latency", "8 B, more than libfabric alone", more, "ns")
    yield from other_sizes("comm_latency", found, "us")


@two_ranks
def comm_bandwidth(setting):
    found = of_sizes(setting, "comm_bandwidth")
    ours = ("fult", "shm")
    yield from beside("comm_bandwidth", "", found, ours, "MB/s", "fi_pingpong", ("fi_pingpong",))
    yield from beside("comm_bandwidth", "windows, ", found, ours, "MB/s", BARE, ("libfabric", "shm"))
    yield from other_sizes("comm_bandwidth", found, "MB/s")


# --- many tasks that communicate at once

TASKS = (1, 2, 8, 64, 256, 10_000, 100_000)
THREADS = (1, 2, 8, 64)
WINDOW = 64


@two_ranks
def comm_rate(setting):
    contestants = []
    for n in TASKS:
        # Starting so many tasks takes as long as ten of their round trips, which is not what is measured.
        more = ["--fewest", 50, "--repetitions", 1] if n >= 100_000 else []
        contestants.append(contestant(setting, "comm_rate", "fult", "-n", n, *more, key=("fult", n)))
        for version in LAUNCH if n in THREADS else ():
            # A round trip of 64 threads may take half a second.
            fewer = ["--fewest", 1, "--repetitions", 1] if n > 1 else []
            contestants.append(contestant(setting, "comm_rate", version, "-n", n, *fewer, key=(version, n)))
    window = ["--window", WINDOW]
    for version in ("fult", *LAUNCH):
        contestants.append(contestant(setting, "comm_rate", version, *window, key=(version, "window")))
    found = setting.compete("comm_rate", contestants, rounds=2 if setting.quick else None)

    def values(key):
        return values_of(found.get(key))

    def row(key, case, reference, reference_values, peer=False):
        return Row("comm_rate", case, values(key), "Mmsg/s", reference, reference_values, peer=peer,
                   missing=missing_text(found.get(key)), failed=not peer and not values(key))

    for n in TASKS:
        yield row(("fult", n), f"n = {n}", "n = 1", values(("fult", 1)))
    yield row(("fult", "window"), f"window of {WINDOW}", "the better MPI",
              [max(both) for both in turns([values((version, "window")) for version in LAUNCH])])
    for version in LAUNCH:
        for n in THREADS:
            yield row((version, n), f"{version}, n = {n}", f"{version}, n = 1", values((version, 1)), peer=True)
        yield row((version, "window"), f"{version}, window of {WINDOW}", "-", [], peer=True)


def turns(lists):
    """Turn by turn, what those that have values reached."""
    return list(zip(*(each for each in lists if each)))


# --- N messages at once

FROM = 16  # on: the time of a message shall not depend on N


def bursts(setting, name, *arguments):
    contestants = [
        contestant(setting, "comm_burst", "fult", *arguments, key=("fult",)),
        contestant(setting, "comm_burst", "fult", *arguments, "--wildcards", key=("fult", "wildcards")),
    ]
    for version in LAUNCH:
        contestants.append(contestant(setting, "comm_burst", version, *arguments, "--longest", 0.2))
    found = setting.compete(name, contestants, rounds=2 if setting.quick else None)
    for key in (("fult",), ("fult", "wildcards")):
        yield from beside(name, "", found, key, "ns")
        many = [values for case, values in cases(found, key).items() if int(case.split(",")[0]) >= FROM]
        spread = [max(turn) / min(turn) for turn in turns(many)]
        wild = ", wildcards" if len(key) > 1 else ""
        yield Row(name, f"dearest / cheapest from {FROM} on{wild}", spread, "x")
    for version in LAUNCH:
        yield from beside(name, f"{version}, ", found, (version,), "ns")


@two_ranks
def comm_burst(setting):
    yield from bursts(setting, "comm_burst")


@two_ranks
def comm_shuffle(setting):
    yield from bursts(setting, "comm_shuffle", "--shuffle")


# --- one program each

@two_ranks
def comm_compute(setting):
    ours = contestant(setting, "comm_compute", "fult")
    found = setting.compete("comm_compute", [ours], rounds=2 if setting.quick else None)
    yield from micro_rows("comm_compute", found)


@two_ranks
def comm_blocked_memory(setting):
    ours = contestant(setting, "comm_blocked_memory", "fult")
    found = setting.compete("comm_blocked_memory", [ours], rounds=1 if setting.quick else 3)
    yield from micro_rows("comm_blocked_memory", found)


@two_ranks
def comm_idle(setting):
    contestants = [contestant(setting, "comm_idle", version) for version in ("fult", *LAUNCH)]
    found = setting.compete("comm_idle", contestants, rounds=2 if setting.quick else None)
    yield from micro_rows("comm_idle", found)


@two_ranks
def comm_global_get(setting):
    contestants = [
        contestant(setting, "comm_global_get", "fult"),
        contestant(setting, "comm_global_get", "fult", key=("fult", "net"), before=NETWORK),
    ]
    found = setting.compete("comm_global_get", contestants, rounds=2 if setting.quick else None)
    yield from micro_rows("comm_global_get", found)


@two_ranks
def comm_put(setting):
    contestants = [contestant(setting, "comm_put", version) for version in ("fult", *LAUNCH)]
    contestants.append(contestant(setting, "comm_put", "fult", key=("fult", "net"), before=NETWORK))
    found = setting.compete("comm_put", contestants, rounds=2 if setting.quick else None)
    for mpi in LAUNCH:
        yield from beside("comm_put", f"against {mpi}, ", found, ("fult",), "us", mpi, (mpi,))
    yield from beside("comm_put", "net, ", found, ("fult", "net"), "us")
    for mpi in LAUNCH:
        yield from beside("comm_put", f"{mpi}, ", found, (mpi,), "us")


# --- the structures within the library, by threads of one process

def structure(name, peer):
    def run(setting):
        ours = setting.contestant(name, "fult")
        if ours is None:
            yield Row(name, "all", [], "-", missing=f"not built: {peer} was not found")
            return
        yield from micro_rows(name, setting.compete(name, [ours], rounds=2 if setting.quick else None))

    return run


BENCHMARKS = {
    "comm_latency": ("ping-pong, 8 bytes to 4 MiB", comm_latency),
    "comm_bandwidth": ("windows of 64 messages, 64 KiB to 4 MiB", comm_bandwidth),
    "comm_rate": ("1 to 100,000 tasks per rank that exchange messages in pairs", comm_rate),
    "comm_burst": ("1 to 262,144 receives at once, in order", comm_burst),
    "comm_shuffle": ("the same with tags in random order", comm_shuffle),
    "comm_compute": ("64 tasks that compute between messages", comm_compute),
    "comm_blocked_memory": ("memory of a million tasks that wait for messages", comm_blocked_memory),
    "match_table": ("matching by 1 to 8 threads", structure("match_table", "oneTBB")),
    "comm_global_get": ("gets of 8 bytes of another rank's heap, cached and not, by 1 and 10,000 tasks", comm_global_get),
    "comm_put": ("puts of 8 bytes to 1 MiB by ten tasks of each rank, and by MPI", comm_put),
    "comm_idle": ("processor time of ranks that wait for messages", comm_idle),
}
