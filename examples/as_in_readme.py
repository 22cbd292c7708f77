"""README.md shows these examples as they are. usage: as_in_readme.py ROOT FILE..."""
import sys
from pathlib import Path


def main():
    root, names = Path(sys.argv[1]), sys.argv[2:]
    readme = (root / 'README.md').read_text()
    missing = [name for name in names if (root / 'examples' / name).read_text().strip() not in readme]
    for name in missing:
        print(f'examples/{name} differs from what README.md shows, or is not there')
    print(f'{len(names)} programs, {len(missing)} differ')
    return 1 if missing or not names else 0


if __name__ == '__main__':
    sys.exit(main())
