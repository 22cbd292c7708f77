#!/usr/bin/env python3
"""The usual number of threads heeds the quota of a control group; omp_get_num_procs counts the processors, as OpenMP asks.

quota_test.py PROGRAM. Status 77, which Meson takes for "skipped", where no group with a quota can be made.
"""
import os
import pathlib
import subprocess
import sys
import uuid

PERIOD = 100000  # microseconds


def make_group(quota):
    """A new group beside this process, of either version; None if the system does not allow one."""
    name = f"fult-quota-{uuid.uuid4().hex}"
    for folder, files in ((pathlib.Path("/sys/fs/cgroup/cpu"), {"cpu.cfs_period_us": PERIOD, "cpu.cfs_quota_us": quota}),
                          (pathlib.Path("/sys/fs/cgroup"), {"cpu.max": f"{quota} {PERIOD}"})):
        group = folder / name
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            for file, value in files.items():
                if not (group / file).exists():
                    raise OSError(file)
                (group / file).write_text(str(value))
            return group
        except OSError:
            group.rmdir()
    return None


def counts_of(program, group, threads):
    """What the program prints as a member of the group: the number of processors, of threads, of the members of a team."""
    environment = {name: value for name, value in os.environ.items() if name not in ("OMP_NUM_THREADS", "FULT_WORKERS")}
    environment.update(threads)
    done = subprocess.run([program], env=environment, stdout=subprocess.PIPE, text=True, check=True,
                          preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
    return [int(word) for word in done.stdout.split()]


def main():
    processors = len(os.sched_getaffinity(0))
    group = make_group(PERIOD // 2)  # half a processor
    if not group:
        print("no group with a quota can be made here: nothing is tested")
        return 77
    try:
        expected = {(): [processors, 1, 1], (("OMP_NUM_THREADS", "3"),): [processors, 3, 3]}
        for threads, right in expected.items():
            found = counts_of(sys.argv[1], group, dict(threads))
            if found != right:
                print(f"{dict(threads)}: processors, threads and members are {found} instead of {right}")
                return 1
        return 0
    finally:
        group.rmdir()


if __name__ == "__main__":
    sys.exit(main())
