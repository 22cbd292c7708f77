"""Taking turns: A B A B ..., so that a slow moment of the machine affects all."""

import dataclasses
import json
import subprocess
import time

from .build import say

LONGEST = 300  # seconds that one program may take
LONGEST_PEER = 60


@dataclasses.dataclass
class Contestant:
    """A program with its arguments, measured in turn with the others of its benchmark."""

    key: tuple             # how the table finds it
    command: list
    peer: bool = False     # dropped when the time is up
    records: list = dataclasses.field(default_factory=list)  # a list of records for each turn
    seconds: float = 0.0   # of its last turn
    error: str = ""


def run_once(contestant):
    start = time.monotonic()
    limit = LONGEST_PEER if contestant.peer else LONGEST
    try:
        command = [str(part) for part in contestant.command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            contestant.error = f"status {done.returncode}: {last}"
        else:
            contestant.records.append([json.loads(line) for line in done.stdout.splitlines() if line])
    except subprocess.TimeoutExpired:
        contestant.error = f"not done after {limit} s"
    contestant.seconds = time.monotonic() - start
    if contestant.error:
        say(f"  {' '.join(map(str, contestant.command))}: {contestant.error}")


def take_turns(name, contestants, rounds, budget):
    """Runs each once a round. A peer is left out of later rounds that would end past the budget (seconds)."""
    start = time.monotonic()
    for turn in range(rounds):
        say(f"{name}: round {turn + 1} of {rounds}, {time.monotonic() - start:.0f} s so far")
        for contestant in contestants:
            late = time.monotonic() - start + contestant.seconds > budget
            if contestant.error or (contestant.peer and turn > 0 and late):
                continue
            run_once(contestant)
