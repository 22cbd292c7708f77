"""Instructions of an operation, counted by Callgrind: they do not depend on how busy the machine is."""

import os
import re
import shutil
import subprocess

from .build import say
from .rows import Row

# operation -> the two counts that are subtracted, the counted operation, and the reference of the row
OPERATIONS = {
    "fib": (16, 20, "a spawn and join inside a recursion"),
    "spawn_join": (6400, 64000, "a spawn and join, the task run by the join"),
    "spawn_join_stack": (6400, 64000, "the same, the task yields once on a stack of its own"),
    "yield": (10000, 100000, "a yield"),
    "signal_wait": (10000, 100000, "a signal and wait, one worker"),
    "wake_ups": (6400, 64000, "one of 64 tasks that are woken in turn"),
    "uts": (6, 8, "a node of uts"),
}
# The same of programs of OpenMP, one thread: on ours, beside libgomp.
OPENMP_OPERATIONS = {
    "fib": (16, 20, "OpenMP, a task inside a recursion, and its taskwait"),
    "tasks": (6400, 64000, "OpenMP, a task that the taskwait runs"),
    "chain": (6400, 64000, "OpenMP, a task that depends on the one before"),
    "iterations": (10000, 100000, "OpenMP, a chunk of a dynamic loop"),
    "locks": (10000, 100000, "OpenMP, a lock taken and released"),
    "regions": (1000, 10000, "OpenMP, a region of one thread"),
}
LIMIT = 120  # seconds


def count(valgrind, program, operation, size, environment=None):
    """Operations, and instructions of the whole process."""
    command = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), operation, str(size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env={**os.environ, **(environment or {})})
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"{operation} {size}: status {done.returncode}: {last}")
    return int(done.stdout), int(found[1])


def an_operation(valgrind, program, operation, sizes, environment=None):
    """Starting and ending the process, the same for both, cancels."""
    few, many = (count(valgrind, program, operation, size, environment) for size in sizes)
    return (many[1] - few[1]) / (many[0] - few[0])


def instructions(setting):
    valgrind = shutil.which("valgrind")

    def row(about, program, counted):
        """counted: the arguments of an_operation for ours, then for the reference if there is one."""
        values = []
        missing = "not available" if program and valgrind else "no valgrind" if program else "not built"
        if program and valgrind:
            say(f"instructions: {about}")
            try:
                values = [an_operation(valgrind, program, *arguments) for arguments in counted.values()]
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                say(f"  {error}")
                setting.failed, missing = True, "failed"
        reference = [*counted, "-"][1] if values else "-"
        return Row("instructions", about, values[:1], "instructions", reference, values[1:], missing=missing)

    program = setting.programs.get("instructions-fult")
    for operation, (few, many, about) in OPERATIONS.items():
        serial = {"serial": ("uts_serial", (few, many))} if operation == "uts" else {}
        yield row(about, program, {"fult": (operation, (few, many))} | serial)
    if setting.omp_libraries is None:
        return
    ours = {"LD_LIBRARY_PATH": str(setting.omp_libraries)}
    program = setting.programs.get("instructions-libgomp")
    for operation, (few, many, about) in OPENMP_OPERATIONS.items():
        peer = {"libgomp": (operation, (few, many))} if setting.peers else {}
        yield row(about, program, {"fult": (operation, (few, many), ours)} | peer)


BENCHMARKS = {"instructions": ("instructions per spawn, join, yield, signal and operation of OpenMP, counted by Callgrind", instructions)}
