"""README.md shows each example of this directory as it is. usage: as_in_readme.py ROOT"""
import sys
from pathlib import Path


def main():
    root = Path(sys.argv[1])
    readme = (root / 'README.md').read_text()
    programs = sorted(p for p in (root / 'examples').iterdir() if p.suffix in ('.c', '.cpp'))
    missing = [p for p in programs if p.read_text().strip() not in readme]
    for path in missing:
        print(f'{path.relative_to(root)} differs from what README.md shows, or is not there')
    print(f'{len(programs)} programs, {len(missing)} differ')
    return 1 if missing or not programs else 0


if __name__ == '__main__':
    sys.exit(main())
