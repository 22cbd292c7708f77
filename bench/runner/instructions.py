"""Instructions of an operation, counted by Callgrind: they do not depend on how busy the machine is."""

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
LIMIT = 120  # seconds


def count(valgrind, program, operation, size):
    """Operations, and instructions of the whole process."""
    command = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), operation, str(size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"{operation} {size}: status {done.returncode}: {last}")
    return int(done.stdout), int(found[1])


def an_operation(valgrind, program, operation, sizes):
    """Starting and ending the process, the same for both, cancels."""
    few, many = (count(valgrind, program, operation, size) for size in sizes)
    return (many[1] - few[1]) / (many[0] - few[0])


def instructions(setting):
    program = setting.programs.get("instructions-fult")
    valgrind = shutil.which("valgrind")
    missing = "not available" if program and valgrind else "no valgrind" if program else "not built"
    for operation, (few, many, about) in OPERATIONS.items():
        values, reference, beside = [], "-", []
        if program and valgrind:
            say(f"instructions: {about}")
            try:
                values = [an_operation(valgrind, program, operation, (few, many))]
                if operation == "uts":
                    reference = "serial"
                    beside = [an_operation(valgrind, program, "uts_serial", (few, many))]
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                say(f"  {error}")
                setting.failed, missing = True, "failed"
        yield Row("instructions", about, values, "instructions", reference, beside, missing=missing)


BENCHMARKS = {"instructions": ("instructions per spawn, join, yield and signal, counted by Callgrind", instructions)}
