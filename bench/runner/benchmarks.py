"""The benchmarks by name: the participants, and the rows of the results."""

from .rows import Row
from .turns import Contestant, take_turns

PEERS = ("asio", "argobots", "qthreads", "tbb", "libgomp", "libomp", "boost_fiber")
ONE_WORKER_ONLY = ("boost_fiber",)


def workers_text(count):
    return "1 worker" if count == 1 else f"{count} workers"


class Setting:
    """What the command line says."""

    def __init__(self, programs, processors, options):
        self.programs = programs  # name -> path
        self.directory = options.build_dir.resolve()
        self.bots = options.bots
        self.processors = processors
        self.quick = options.quick
        self.peers = not options.no_peers
        self.rounds = options.rounds
        self.workers = options.workers  # of the rows that use several
        self.failed = False  # a program of ours gave a wrong answer, or none

    @property
    def omp_libraries(self):
        """The folder with our libgomp.so.1 and libomp.so.5; None where they were not built."""
        folder = self.directory / "omp"
        return folder if (folder / "libfult-omp.so").exists() else None

    def contestant(self, kernel, version, *arguments, key=None):
        """None where that program was not built."""
        path = self.programs.get(f"{kernel}-{version}")
        if path is None:
            return None
        return Contestant(key or (version,), [path, *arguments], peer=version in PEERS)

    def compete(self, name, contestants, rounds=None, parts=1):
        """Contestants by key, with what they reached. parts: so many calls share the benchmark's time."""
        contestants = [c for c in contestants if c is not None and (self.peers or not c.peer)]
        take_turns(name, contestants, rounds or self.rounds, (45 if self.quick else 300) / parts)
        self.failed = self.failed or any(c.error and not c.peer for c in contestants)
        return {c.key: c for c in contestants}


def values_of(contestant, field="value", **wanted):
    """That field of the matching record of each turn."""
    if contestant is None:
        return []
    return [
        record[field]
        for turn in contestant.records
        for record in turn
        if all(record.get(key) == value for key, value in wanted.items())
        if isinstance(record[field], (int, float))  # not a counter that is not available, nor null for a number that is none
    ]


def missing_text(contestant):
    return "failed" if contestant is not None and contestant.error else "not available"


# --- fib, nqueens, uts: a serial program; ours and the peers with one worker and with several

def counter_rows(name, prefix, contestant):
    for field in ("instructions", "l1_misses", "l2_misses"):
        case = f"{prefix}1 worker, {field.replace('_', ' ')}"
        yield Row(name, case, values_of(contestant, f"{field}_per_task"), "a task")


def run_kernel(setting, name, kernel, arguments, peer_arguments, parts=1):
    """Contestants by (version, workers)."""
    counts = [1] if setting.processors == 1 else [1, setting.workers]
    contestants = []
    for version in ("serial", "serial_calls"):
        contestants.append(setting.contestant(kernel, version, *arguments, key=(version, 1)))
    for version in ("fult", *PEERS):
        mine = peer_arguments(version) if version in PEERS else arguments
        for count in counts[:1] if version in ONE_WORKER_ONLY else counts:
            key = (version, count)
            contestants.append(setting.contestant(kernel, version, *mine, "--workers", count, key=key))
    return setting.compete(name, contestants, parts=parts)


def fib(setting):
    def peer_arguments(version):
        # Ten to a thousand times slower: a smaller tree shows the same nanoseconds a task.
        own = {"boost_fiber": [], "qthreads": ["-n", 26 if setting.quick else 30]}
        return own.get(version, ["-n", 30 if setting.quick else 35])

    found = run_kernel(setting, "fib", "fib", [], peer_arguments)
    serial = values_of(found.get(("serial", 1)), "ns_per_task")
    one = values_of(found.get(("fult", 1)), "ns_per_task")
    unit = "ns a task"
    calls = values_of(found.get(("serial_calls", 1)), "ns_per_task")
    yield Row("fib", "1 worker", one, unit, "plain recursive calls", calls,
              missing=missing_text(found.get(("fult", 1))))
    for (version, workers), contestant in found.items():
        if version == "fult" and workers > 1:
            values, missing = values_of(contestant, "ns_per_task"), missing_text(contestant)
            case = workers_text(workers)
            yield Row("fib", case, values, unit, "fult, 1 worker", one, speed=True, missing=missing)
    yield Row("fib", "1 worker, against inlined calls", one, unit, "serial, calls inlined by the compiler", serial)
    yield from counter_rows("fib", "", found.get(("fult", 1)))
    for (version, workers), contestant in found.items():
        if version in PEERS:
            size = contestant.records[0][0]["case"] if contestant.records else "-"
            case = f"{version}, n = {size}, {workers_text(workers)}"
            values, missing = values_of(contestant, "ns_per_task"), missing_text(contestant)
            yield Row("fib", case, values, unit, "plain recursive calls", calls, missing=missing, peer=True)


def times_rows(name, prefix, found, scale, unit):
    """Seconds against the serial program's seconds: how often faster."""
    serial = [scale * s for s in values_of(found.get(("serial", 1)), "seconds")]
    for (version, workers), contestant in found.items():
        if version.startswith("serial"):
            continue
        ours = version == "fult"
        case = ("" if ours else f"{version}, ") + prefix + workers_text(workers)
        values, missing = [scale * s for s in values_of(contestant, "seconds")], missing_text(contestant)
        yield Row(name, case, values, unit, "serial", serial, speed=True, missing=missing, peer=not ours)
        if ours and workers == 1:
            yield from counter_rows(name, prefix, contestant)


def nqueens(setting):
    found = run_kernel(setting, "nqueens", "nqueens", [], lambda version: [])
    yield from times_rows("nqueens", "", found, 1e3, "ms")


def uts(setting):
    trees = ("T1", "T3")
    for tree in trees:
        found = run_kernel(setting, f"uts {tree}", "uts", [tree], lambda version: [tree], parts=len(trees))
        yield from times_rows("uts", f"{tree}, ", found, 1e3, "ms")


def hpccg(setting):
    sizes = (64, 100)
    for size in sizes:
        name = f"hpccg {size}"
        found = run_kernel(setting, name, "hpccg", ["-n", size], lambda version: ["-n", size], parts=len(sizes))
        yield from times_rows("hpccg", f"{size}^3, ", found, 1e3, "ms")
        ours = [1e3 * s for s in values_of(found.get(("fult", setting.workers)), "seconds")]
        for peer in ("libgomp", "libomp"):
            theirs = [1e3 * s for s in values_of(found.get((peer, setting.workers)), "seconds")]
            if ours and theirs:
                case = f"{size}^3, {workers_text(setting.workers)}, against {peer}"
                yield Row("hpccg", case, ours, "ms", peer, theirs, speed=True)


# --- small benchmarks: each program includes its reference

def micro_rows(name, found):
    """A row for each case of ours, then for each case of the peers. A key is the version, and what is particular."""
    for (version, *particular), contestant in found.items():
        ours = version == "fult"
        heading = [*([] if ours else [version]), *particular]
        if not contestant.records:
            yield Row(name, ", ".join(heading) or "all", [], "-", missing=missing_text(contestant), peer=not ours, failed=ours)
            continue
        for record in contestant.records[0]:
            case = record["case"]
            values = values_of(contestant, case=case)
            references = values_of(contestant, "reference_value", case=case) if "reference" in record else []
            shown = ", ".join([*heading, case])
            reference = record.get("reference", "-")
            yield Row(name, shown, values, record["unit"], reference, references, peer=not ours)


def micro(name, several=False, rounds=None):
    """A benchmark that is made of one program for each version."""

    def run(setting):
        if several and setting.processors < 2:
            yield Row(name, "all", [], "-", missing="needs two processors")
            return
        workers = ["--workers", setting.workers] if several else []
        contestants = [setting.contestant(name, version, *workers) for version in ("fult", *PEERS)]
        found = setting.compete(name, contestants, rounds=rounds(setting) if rounds else None)
        yield from micro_rows(name, found)

    return run


def spawn_join(setting):
    rows = list(micro("spawn_join")(setting))
    yield from rows
    medians = [row.median(row.values) for row in rows if not row.peer and row.values]
    if medians:
        yield Row("spawn_join", "dearest / cheapest", [max(medians) / min(medians)], "x")


def spawn_join_stack(setting):
    for size in (64, 512, 4096, 65536, 1000000):
        ours = setting.contestant("spawn_join", "fult", "--suspend", "-n", size)
        yield from micro_rows("spawn_join_stack", setting.compete(f"spawn_join_stack {size}", [ours]))


ECHO_CONNECTIONS = 10000


def echo(setting):
    """Ours, against Boost.Asio in the same turns."""
    if setting.processors < 2:
        yield Row("echo", "all", [], "-", missing="needs two processors")
        return
    arguments = ["-n", ECHO_CONNECTIONS, "--workers", setting.workers]
    found = setting.compete("echo", [setting.contestant("echo", version, *arguments) for version in ("fult", "asio")])
    ours, asio = found.get(("fult",)), found.get(("asio",))
    for case, unit in ((str(ECHO_CONNECTIONS), "thousand answers/s"),
                       (f"{ECHO_CONNECTIONS}, server alone", "us of processor time an answer")):
        yield Row("echo", case, values_of(ours, case=case), unit, "Boost.Asio", values_of(asio, case=case),
                  missing=missing_text(ours))


BENCHMARKS = {
    "fib": ("fib(38), a task per call: nanoseconds per task", fib),
    "spawn_join": ("spawn and join of N empty tasks", spawn_join),
    "spawn_join_stack": ("the same, each task on a stack of its own", spawn_join_stack),
    "task_group": ("N empty tasks in a group, against N spawned and joined", micro("task_group")),
    "task_local": ("reading a task-local value, against a thread_local variable", micro("task_local")),
    "yield": ("yields among 2 and 1,000 tasks of a worker", micro("yield")),
    "signal_wait": ("two tasks on two workers that wake each other", micro("signal_wait", several=True)),
    "signal": ("a signal alone to a task of another worker", micro("signal", several=True)),
    "lock": ("a lock alone, and among 64 tasks on two workers", micro("lock", several=True)),
    "barrier": ("2, 64 and 1,024 tasks on two workers that meet", micro("barrier", several=True)),
    "uts": ("unbalanced tree search T1 and T3, a task per node", uts),
    "nqueens": ("12 queens, a task per placement", nqueens),
    "hpccg": ("conjugate gradients on grids of 64^3 and 100^3 points, against OpenMP", hpccg),
    # Memory is not time: it does not need five.
    "blocked_memory": ("memory of a million blocked tasks",
                       micro("blocked_memory", rounds=lambda setting: 1 if setting.quick else 3)),
    "idle": ("processor time of a runtime without work", micro("idle", several=True)),
    "hidden_work": ("stealing from a task that spawns and then computes", micro("hidden_work", several=True)),
    "woken_tasks": ("tasks that are woken together", micro("woken_tasks", several=True)),
    "requests": ("requests that arrive at random, a task each: latency by the order of tasks", micro("requests")),
    "timers": ("a million deadlines set and fired; tasks that sleep", micro("timers")),
    "sleep_accuracy": ("how late sleeping tasks resume", micro("sleep_accuracy", several=True)),
    "blocking": ("an empty call through run_blocking()", micro("blocking", several=True)),
    "echo": ("an echo server with 10,000 connections, against Boost.Asio", echo),
    "parallel_for": ("loops of 1,000 empty iterations and of 10^8 additions", micro("parallel_for", several=True)),
}
