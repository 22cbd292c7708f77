#!/usr/bin/env python3
"""Writes sources that include others, so that several tests are compiled as one, and prints their paths.

Meson's unity builds do not hand out the objects of single sources. usage: together.py COUNT FOLDER NAME SOURCE...
FOLDER/NAME-1.cpp includes the first COUNT sources, which are paths below tests/, and so on. A file that is right stays as it is.
"""
import sys
from pathlib import Path

count, folder, name = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
sources = sys.argv[4:]
for number, first in enumerate(range(0, len(sources), count), 1):
    unit = folder / f'{name}-{number}.cpp'
    text = ''.join(f'#include "tests/{source}"\n' for source in sources[first:first + count])
    if not unit.exists() or unit.read_text() != text:
        unit.write_text(text)
    print(unit)
