"""No example is forgotten. usage: all_run.py DIRECTORY FILE..., the files that are built and run"""
import sys
from pathlib import Path


def main():
    directory, built = Path(sys.argv[1]), set(sys.argv[2:])
    there = {p.name for p in directory.iterdir() if p.suffix in ('.c', '.cpp')}
    for name in sorted(there - built):
        print(f'{name} is not run: add it to examples/meson.build')
    return 1 if there - built else 0


if __name__ == '__main__':
    sys.exit(main())
