"""Runs one program of the Barcelona OpenMP Tasks Suite, and writes what it reached as a line of JSON.

usage: bots_once.py PROGRAM [ARGUMENT ...]

The record has `seconds`, which the program measured from its first parallel region on, and `megabytes`, the peak of its
memory: null without GNU time, as a child of this interpreter counts the interpreter's memory as its own. The exit
status is not 0 if the program failed, or found its own answer wrong.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile


def field(output, name):
    found = re.search(rf"^{name} *= *(\S+)", output, re.MULTILINE)
    return found.group(1) if found else ""


def main(command):
    with tempfile.NamedTemporaryFile("r", prefix="fult-bots-") as peak:
        before = ["time", "-f", "%M", "-o", peak.name] if shutil.which("time") else []
        done = subprocess.run([*before, *command, "-c"], stdout=subprocess.PIPE, text=True, errors="replace")
        kibibytes = peak.read().split()
    if done.returncode != 0:
        sys.exit(f"ended with status {done.returncode}")
    verification = field(done.stdout, "Verification")
    if verification != "successful":
        sys.exit(f"verification: {verification or 'no such line'}")
    megabytes = int(kibibytes[-1]) / 1024 if kibibytes else None
    print(json.dumps({"seconds": float(field(done.stdout, "Time Program")), "megabytes": megabytes}))


main(sys.argv[1:])
