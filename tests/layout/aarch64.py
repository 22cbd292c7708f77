#!/usr/bin/env python3
"""The core compiles and assembles for aarch64 too. usage: aarch64.py ROOT

Headers of Boost and hwloc are those of this machine: they do not depend on the processor. Nothing is linked or run.
"""
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COMPILER = 'aarch64-linux-gnu-g++'
SKIPPED = 77  # what meson test takes for "not run"


def main():
    root = Path(sys.argv[1])
    if not shutil.which(COMPILER):
        print(f'no {COMPILER} here; tools/setup check installs it')
        return SKIPPED
    here = subprocess.run(['gcc', '-print-multiarch'], capture_output=True, text=True).stdout.strip()
    command = [COMPILER, '-std=c++20', '-O1', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-ftls-model=initial-exec',
               f'-I{root}/include', f'-I{root}', '-idirafter', '/usr/include', '-idirafter', f'/usr/include/{here}',
               '-c', '-o', '/dev/null']
    sources = [p for base in ('fult', 'sync') for p in sorted((root / base).glob('*.cpp'))]

    def build(source):
        return subprocess.run([*command, str(source)], capture_output=True, text=True, timeout=240)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(zip(sources, pool.map(build, sources)))
    failed = [(source, run) for source, run in results if run.returncode != 0]
    for source, run in failed:
        print(f'--- {source.relative_to(root)}\n{run.stdout}{run.stderr}')
    print(f'{len(results)} sources, {len(failed)} failed')
    return 1 if failed or not results else 0


if __name__ == '__main__':
    sys.exit(main())
