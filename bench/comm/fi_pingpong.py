#!/usr/bin/env python3
"""libfabric's own fi_pingpong between two processes of this host, reported as records of bench/run.

usage: fi_pingpong.py PROVIDER
"""

import json
import os
import re
import socket
import subprocess
import sys
import time

SIZES = {8: 200000, 64: 200000, 512: 100000, 4096: 50000, 16384: 10000,
         65536: 5000, 262144: 1000, 1048576: 300, 4194304: 100}
FAST = ("shm",)  # others get a twentieth of the iterations
LONGEST = 8  # seconds, a size


def size_text(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB" if size >= 1 << 10 else f"{size} B"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(processor, command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            preexec_fn=lambda: os.sched_setaffinity(0, {processor}))


def listens(port, server, end):
    """Whether the server is ready; looked up, for a connection of ours would be taken for the client's."""
    wanted = f":{port:04X}"
    while time.monotonic() < end and server.poll() is None:
        with open("/proc/net/tcp", encoding="ascii") as table:
            if any(line.split()[1].endswith(wanted) and line.split()[3] == "0A" for line in table.readlines()[1:]):
                return True
        time.sleep(0.01)
    return False


def measure(provider, size, iterations, processors):
    """Seconds that the messages took one way, or an error message."""
    port = free_port()
    common = ["fi_pingpong", "-p", provider, "-e", "rdm", "-S", str(size), "-I", str(iterations)]
    server = start(processors[0], [*common, "-B", str(port)])
    client = None
    try:
        if not listens(port, server, time.monotonic() + LONGEST):
            return None, "the server does not listen"
        client = start(processors[1], [*common, "-P", str(port), "127.0.0.1"])
        output, errors = client.communicate(timeout=LONGEST)
        server.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return None, f"not done after {LONGEST} s"
    finally:
        for each in (server, client):
            if each is not None and each.poll() is None:
                each.kill()
                each.wait()
    # bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec
    for line in output.splitlines():
        fields = line.split()
        if len(fields) == 8 and re.fullmatch(r"[0-9.]+s", fields[4]):
            return float(fields[6]) * 1e-6, ""
    return None, (errors.strip().splitlines() or ["no figures in its output"])[-1]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    provider = sys.argv[1]
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < 2:
        sys.exit("two processors are needed")
    for size, iterations in SIZES.items():
        seconds, error = measure(provider, size, iterations // (1 if provider in FAST else 20) + 1, processors)
        if seconds is None:
            print(f"fi_pingpong, {size} bytes: {error}", file=sys.stderr)
            continue
        record = {"case": size_text(size), "version": "fi_pingpong"}
        print(json.dumps({**record, "benchmark": "comm_latency", "value": seconds * 1e6, "unit": "us"}), flush=True)
        print(json.dumps({**record, "benchmark": "comm_bandwidth", "value": size / seconds / 1e6, "unit": "MB/s"}),
              flush=True)


if __name__ == "__main__":
    main()
