"""The benchmarks by name: who takes part, and what rows come of it."""

from .rows import Row
from .turns import Contestant, take_turns

PEERS = ("argobots", "qthreads", "tbb", "libgomp", "libomp", "boost_fiber")
ONE_WORKER_ONLY = ("boost_fiber",)


def workers_text(count):
    return "1 worker" if count == 1 else f"{count} workers"


class Setting:
    """What the command line says."""

    def __init__(self, programs, quick, peers, rounds, workers, processors):
        self.programs = programs      # name -> path
        self.quick = quick
        self.peers = peers
        self.rounds = rounds
        self.workers = workers        # of the rows that use several
        self.processors = processors
        self.failed = False           # a program of ours gave a wrong answer, or none

    def contestant(self, kernel, version, *arguments, key=None):
        """None where that program was not built."""
        path = self.programs.get(f"{kernel}-{version}")
        if path is None:
            return None
        return Contestant(key or (version,), [path, *arguments], peer=version in PEERS)

    def compete(self, name, contestants, rounds=None, parts=1):
        """Contestants by key, with what they reached. parts: how many such calls share the time of the benchmark."""
        contestants = [c for c in contestants if c is not None and (self.peers or not c.peer)]
        take_turns(name, contestants, rounds or self.rounds, (45 if self.quick else 300) / parts)
        self.failed = self.failed or any(c.error and not c.peer for c in contestants)
        return {c.key: c for c in contestants}


def values_of(contestant, field="value", **wanted):
    """That field of the matching record of each turn."""
    if contestant is None:
        return []
    found = []
    for turn in contestant.records:
        found += [r[field] for r in turn if all(r.get(k) == v for k, v in wanted.items()) and not isinstance(r[field], str)]
    return found


def missing_text(contestant):
    return "failed" if contestant is not None and contestant.error else "not available"


# --- fib, nqueens, uts: a serial program, ours with one and several workers, peers with one and several ---------------------

def counter_rows(name, prefix, contestant, tasks):
    for field in ("instructions", "l1_misses", "l2_misses"):
        yield Row(name, f"{prefix}1 worker, {field.replace('_', ' ')}", values_of(contestant, f"{field}_per_task"),
                  f"a {tasks}")


def run_kernel(setting, name, kernel, arguments, peer_arguments, parts=1):
    """Contestants by (version, workers)."""
    counts = [1] if setting.processors == 1 else [1, setting.workers]
    all_of_them = [setting.contestant(kernel, version, *arguments, key=(version, 1)) for version in ("serial", "serial_calls")]
    for version in ("fult", *PEERS):
        for count in counts[:1] if version in ONE_WORKER_ONLY else counts:
            mine = peer_arguments(version) if version in PEERS else arguments
            all_of_them.append(setting.contestant(kernel, version, *mine, "--workers", count, key=(version, count)))
    return setting.compete(name, all_of_them, parts=parts)


def fib(setting):
    def peer_arguments(version):
        # Ten to a thousand times slower: a smaller tree shows the same nanoseconds a task. Some have their own size.
        return {"boost_fiber": [], "qthreads": ["-n", 26 if setting.quick else 30]}.get(
            version, ["-n", 30 if setting.quick else 35])

    found = run_kernel(setting, "fib", "fib", [], peer_arguments)
    serial = values_of(found.get(("serial", 1)), "ns_per_task")
    one = values_of(found.get(("fult", 1)), "ns_per_task")
    yield Row("fib", "1 worker", one, "ns a task", "serial", serial, missing=missing_text(found.get(("fult", 1))))
    for (version, workers), contestant in found.items():
        values = values_of(contestant, "ns_per_task")
        if version == "fult" and workers > 1:
            yield Row("fib", workers_text(workers), values, "ns a task", "fult, 1 worker", one, speed=True,
                      missing=missing_text(contestant))
    calls = values_of(found.get(("serial_calls", 1)), "ns_per_task")
    yield Row("fib", "1 worker, against calls that are made", one, "ns a task", "serial, not inlined", calls)
    yield from counter_rows("fib", "", found.get(("fult", 1)), "task")
    for (version, workers), contestant in found.items():
        if version in PEERS:
            size = contestant.records[0][0]["case"] if contestant.records else "-"
            yield Row("fib", f"{version}, n = {size}, {workers_text(workers)}", values_of(contestant, "ns_per_task"), "ns a task",
                      "serial", serial, missing=missing_text(contestant), peer=True)


def times_rows(name, prefix, found, scale, unit):
    """Seconds against the serial program's seconds: how often faster."""
    serial = [scale * s for s in values_of(found.get(("serial", 1)), "seconds")]
    for (version, workers), contestant in found.items():
        if version.startswith("serial"):
            continue
        case = prefix + workers_text(workers)
        yield Row(name, case if version == "fult" else f"{version}, {case}",
                  [scale * s for s in values_of(contestant, "seconds")], unit, "serial", serial, speed=True,
                  missing=missing_text(contestant), peer=version != "fult")
        if version == "fult" and workers == 1:
            yield from counter_rows(name, prefix, contestant, "task")


def nqueens(setting):
    found = run_kernel(setting, "nqueens", "nqueens", [], lambda version: [])
    yield from times_rows("nqueens", "", found, 1e3, "ms")


def uts(setting):
    trees = ("T1", "T3")
    for tree in trees:
        found = run_kernel(setting, f"uts {tree}", "uts", [tree], lambda version: [tree], parts=len(trees))
        yield from times_rows("uts", f"{tree}, ", found, 1e3, "ms")


# --- small measures: each program brings its reference along -----------------------------------------------------------------

def micro_rows(name, found, benchmark=None):
    """A row for each case of ours, then for each case of the peers."""
    for (version,), contestant in found.items():
        if not contestant.records:
            yield Row(name, "all" if version == "fult" else version, [], "-", missing=missing_text(contestant),
                      peer=version != "fult")
            continue
        for record in contestant.records[0]:
            case = record["case"]
            wanted = {"case": case, "benchmark": benchmark or name}
            reference = values_of(contestant, "reference_value", **wanted) if "reference" in record else []
            yield Row(name, case if version == "fult" else f"{version}, {case}", values_of(contestant, **wanted), record["unit"],
                      record.get("reference", "-"), reference, peer=version != "fult")


def micro(name, kernel=None, arguments=(), several=False, rounds=None):
    """A benchmark that is made of one program for each version."""

    def run(setting):
        if several and setting.processors < 2:
            yield Row(name, "all", [], "-", missing="needs two processors")
            return
        extra = [*arguments, *(["--workers", setting.workers] if several else [])]
        found = setting.compete(name, [setting.contestant(kernel or name, version, *extra) for version in ("fult", *PEERS)],
                                rounds=rounds(setting) if rounds else None)
        yield from micro_rows(name, found)

    return run


def spawn_join(setting):
    rows = list(micro("spawn_join")(setting))
    yield from rows
    medians = [row.median(row.values) for row in rows if not row.peer and row.values]
    if medians:
        yield Row("spawn_join", "dearest / cheapest", [max(medians) / min(medians)], "x")


def spawn_join_stack(setting):
    # A million stacks take half a minute; one program for each size keeps the sizes apart.
    for size in (64, 512, 4096, 65536) if setting.quick else (64, 512, 4096, 65536, 1000000):
        found = setting.compete(f"spawn_join_stack {size}", [setting.contestant("spawn_join", "fult", "--suspend", "-n", size)])
        yield from micro_rows("spawn_join_stack", found)


BENCHMARKS = {
    "fib": ("fib(38), a task a call: nanoseconds a task", fib),
    "spawn_join": ("spawn and join of N empty tasks", spawn_join),
    "spawn_join_stack": ("the same, each task on a stack of its own", spawn_join_stack),
    "yield": ("giving way among 2 and 1,000 tasks of a worker", micro("yield")),
    "signal_wait": ("two tasks on two workers that wake each other", micro("signal_wait", several=True)),
    "signal": ("a signal alone to a task of another worker", micro("signal", several=True)),
    "uts": ("unbalanced tree search T1 and T3, a task a node", uts),
    "nqueens": ("12 queens, a task a placement", nqueens),
    # Memory is not time: it does not need five.
    "blocked_memory": ("memory of a million blocked tasks",
                       micro("blocked_memory", rounds=lambda setting: 1 if setting.quick else 3)),
    "idle": ("processor time of a runtime without work", micro("idle", several=True)),
    "hidden_work": ("tasks of a task that goes on computing", micro("hidden_work", several=True)),
    "woken_tasks": ("tasks that are woken together", micro("woken_tasks", several=True)),
}
