"""The release build that is measured, and the lock that keeps two measurements apart."""

import fcntl
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Failed(Exception):
    """Something that ends the run, with a message for the user."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def run_quietly(command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        say(done.stdout)
        raise Failed(f"'{' '.join(command)}' failed with status {done.returncode}; its output is above")
    return done.stdout


def introspect(directory, what):
    return json.loads(run_quietly(["meson", "introspect", str(directory), what]))


def build(directory, peers_prefix):
    """Configures the directory if that was never done, builds, and returns the programs by name."""
    prefix_option = [f"-Dpeers_prefix={','.join(peers_prefix)}"] if peers_prefix else []
    if not (directory / "build.ninja").exists():
        say(f"configuring {directory} ...")
        options = ["--buildtype=release", "-Dbenchmarks=enabled", "-Dtests=disabled", *prefix_option]
        run_quietly(["meson", "setup", str(directory), *options])
    elif prefix_option:
        run_quietly(["meson", "configure", str(directory), *prefix_option])
    say(f"building {directory} ...")
    run_quietly(["ninja", "-C", str(directory)])
    settings = {option["name"]: option["value"] for option in introspect(directory, "--buildoptions")}
    kind = settings["buildtype"]
    if kind != "release":
        raise Failed(f"{directory} is of type '{kind}', not 'release'; remove it or give another --build-dir")
    programs = {}
    for target in introspect(directory, "--targets"):
        path = pathlib.Path(target["filename"][0])
        if target["type"] in ("executable", "custom") and (
                directory / "bench" in path.parents or path.name == "fult-run"):
            programs[path.name] = path
    return programs


class Lock:
    """One measurement at a time on this machine: two at once would spoil each other."""

    def __init__(self, patience):
        self.path = pathlib.Path(tempfile.gettempdir()) / "fult-bench.lock"
        self.patience = patience

    def __enter__(self):
        try:
            self.file = os.open(self.path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise Failed(f"cannot open the lock {self.path}: {error.strerror}") from error
        end = time.monotonic() + self.patience
        reported = 0.0
        while True:
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return self
            except BlockingIOError:
                pass
            if time.monotonic() >= end:
                os.close(self.file)
                raise Failed(f"another bench/run has held {self.path} for {self.patience:.0f} s; "
                             "wait for it to end, or be more patient with --wait")
            if time.monotonic() - reported > 30:
                reported = time.monotonic()
                say(f"another bench/run is measuring (it holds {self.path}); waiting ...")
            time.sleep(0.5)

    def __exit__(self, *_):
        os.close(self.file)


def machine():
    """What the figures depend on."""
    facts = {"processors": len(os.sched_getaffinity(0)), "kernel": os.uname().release}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            facts["processor"] = line.split(":", 1)[1].strip()
            break
    describe = ["git", "describe", "--always", "--dirty"]
    version = subprocess.run(describe, cwd=ROOT, capture_output=True, text=True)
    if version.returncode == 0:
        facts["version"] = version.stdout.strip()
    facts["environment"] = {k: v for k, v in os.environ.items() if k.startswith("FULT_")}
    return facts


def busy_share(seconds=0.5):
    """The part of all processors' time that is used now. (The load average still remembers our own build.)"""

    def read():
        fields = [int(f) for f in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
        return sum(fields), fields[3] + fields[4]  # idle, and waiting for a disk

    total, idle = read()
    time.sleep(seconds)
    total_after, idle_after = read()
    return 1 - (idle_after - idle) / max(1, total_after - total)


def warn_if_busy():
    share = busy_share()
    if share > 0.05:
        say(f"warning: the machine is busy ({share:.0%} of its processors); the figures will be off, "
            "those of two workers above all")
