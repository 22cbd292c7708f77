#!/usr/bin/env python3
"""clang-tidy over the libraries, several sources of a folder at a time: most of its time goes into the headers of the system.

usage: tidy.py ROOT CLANG_TIDY SOURCE... -- FLAG...
Prints a TAP line for each set of sources. The checker follows functions of an included .cpp as it does those of the main file.
"""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

AT_ONCE = 12  # sources; more of them take memory
# The sources are headers of the file that includes them all.
HEADERS = (r'(^|/)include/fult/[^/]*\.hpp$|/fult/(base|memory|tasks|scheduler|kernel|outside|engine|inspection|c_api)/[^/]*\.hpp$|'
           r'/(fult|sync|comm|omp|global)/.*\.cpp$')


def sets(sources):
    """Lists of sources of the same folder, of about the same length."""
    for _, folder in groupby(sorted(sources, key=lambda path: (path.parent, path.name)), key=lambda path: path.parent):
        folder = list(folder)
        parts = -(-len(folder) // AT_ONCE)
        for i in range(parts):
            yield folder[i::parts]


def check(tidy, root, flags, sources):
    """The findings of clang-tidy in the sources, compiled as one; empty if there are none."""
    with tempfile.TemporaryDirectory() as scratch:
        together = Path(scratch) / 'together.cpp'
        together.write_text(''.join(f'#include "{path}"\n' for path in sources))
        command = [tidy, '--quiet', f'--config-file={root / ".clang-tidy"}', '--checks=-bugprone-suspicious-include',
                   f'--header-filter={HEADERS}', str(together), '--', *flags]
        run = subprocess.run(command, capture_output=True, text=True)
    return '' if run.returncode == 0 else run.stdout + run.stderr


def main():
    separator = sys.argv.index('--')
    root, tidy, flags = Path(sys.argv[1]), sys.argv[2], sys.argv[separator + 1:]
    jobs = list(sets([Path(name) for name in sys.argv[3:separator]]))
    print(f'1..{len(jobs)}', flush=True)
    bad = 0
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for number, (sources, said) in enumerate(zip(jobs, pool.map(lambda job: check(tidy, root, flags, job), jobs)), 1):
            names = ' '.join(path.name for path in sources)
            print(f'{"not ok" if said else "ok"} {number} {sources[0].parent.relative_to(root)}: {names}', flush=True)
            if said:
                bad += 1
                print(said, file=sys.stderr, flush=True)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
