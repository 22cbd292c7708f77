#!/usr/bin/env python3
"""bench/run and bench/plot take records with null for what is no number. usage: readers_test.py ROOT"""
import importlib.machinery
import importlib.util
import sys
from pathlib import Path


def script(path):
    """A program without an ending, as a module."""
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


def main():
    sys.dont_write_bytecode = True
    root = Path(sys.argv[1])
    sys.path.insert(0, str(root / 'bench'))
    from runner import benchmarks, rows, turns

    one = turns.Contestant(('fult',), [])
    one.records = [[{'case': 'a', 'value': value}] for value in (3.0, None, 'not available', 5)]
    found = benchmarks.values_of(one, case='a')
    assert found == [3.0, 5], found
    row = rows.Row('name', 'a', benchmarks.values_of(one, case='b'), 'ns')
    assert row.line().split('\t')[2] == 'not available', row.line()

    data = {'title': 'title', 'unit': 'ns', 'note': 'note', 'rows': [
        {'name': 'whole', 'values': {'FULT': 5.0, 'Argobots': None, 'oneTBB': 7.0}},
        {'name': 'empty', 'values': {'FULT': None, 'oneTBB': 7.0}}]}
    picture = '\n'.join(script(root / 'bench' / 'plot').picture(data))
    assert 'whole' in picture and 'oneTBB' in picture, picture
    assert 'Argobots' not in picture and 'empty' not in picture, picture


if __name__ == '__main__':
    main()
