#!/usr/bin/env python3
"""A file holds what a command prints. usage: same_output.py FILE COMMAND..."""
import difflib
import subprocess
import sys
from pathlib import Path


def main():
    path, command = Path(sys.argv[1]), sys.argv[2:]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    held = path.read_text() if path.exists() else ''
    if printed and printed == held:
        return 0
    print(f'{path.name} is not what {" ".join(command)} prints; write it again with: COMMAND > docs/{path.name}')
    print('\n'.join(difflib.unified_diff(held.splitlines(), printed.splitlines(), path.name, 'printed', lineterm='')))
    return 1


if __name__ == '__main__':
    sys.exit(main())
