#!/usr/bin/env python3
"""What the tests of real programs look for is found: a different result, none, and a run on other libraries. usage: self_test.py"""
import sys
import tempfile
from pathlib import Path

from programs import (STARTED, Build, Case, check_native, check_ours, compare, expect, first_difference, lines_without, run_checks)

GCCS = '/usr/lib/libgomp.so.1'
OURS = '/build/omp/libgomp.so.1'
BUILD = Build(Path('/build/omp/fult-omp'), Path('/build/mpi/fult-mpi'), Path('/build/logs'))
RANKS = ''.join(f'fult-mpi: rank {rank}: 5 operations, 0 of them waited; 9 polls\n' for rank in range(2))


def refused(what, call, *arguments):
    try:
        call(*arguments)
    except AssertionError:
        return
    raise AssertionError(f'not found: {what}')


def folder_of(top, name, output='a\n', errors='', processes=()):
    """What a run leaves; each process is a list of libraries."""
    folder = Path(top, name)
    folder.mkdir()
    (folder / 'output').write_text(output)
    (folder / 'errors').write_text(errors)
    for number, libraries in enumerate(processes):
        (folder / f'libraries.{number}').write_text(''.join(f'{number}:\tcalling init: {each}\n' for each in libraries))
    return folder


def different_results():
    case = Case('c', [], {'output': lines_without('^ *time')})
    with tempfile.TemporaryDirectory() as top:
        native = folder_of(top, 'native', 'energy 1\ntime 7\n')
        compare(case, native, folder_of(top, 'same', 'energy 1\n time 9\n'))
        for name, output in {'other': 'energy 2\ntime 7\n', 'shorter': '', 'longer': 'energy 1\nenergy 2\n', 'times': 'time 7\n'}.items():
            refused(name, compare, case, native, folder_of(top, name, output))
        refused('no results in both', compare, case, folder_of(top, 'a', '\n'), folder_of(top, 'b', '\n'))
        absent = folder_of(top, 'absent')
        (absent / 'output').unlink()
        refused('no file', compare, case, native, absent)


def what_differs_is_named():
    for native, ours, parts in ((['a', 'b'], ['a', 'c'], ('line 2', "'b' natively", "'c' on FULT")),
                                (['a'], [], ('line 1', 'the end on FULT')), ([], ['a'], ('the end natively',))):
        found = first_difference('output', native, ours)
        expect(all(part in found for part in parts), f'{native}, {ours}: {found}')
    found = first_difference('output', ['a' * 1000 + 'b'], ['a' * 1000 + 'c'])
    expect("b' natively" in found and "c' on FULT" in found and len(found) < 400, found)
    expect(first_difference('output', ['a'], ['a']) == '', 'a difference of equal lines')


def lines_between_marks():
    kept = lines_without('date', after='begin', before='end')('x\nbegin at 12:00\na\ndate\nb\nend\nc\n')
    expect(kept == ['a', 'b'], kept)


def libraries_of_a_native_run():
    with tempfile.TemporaryDirectory() as top:
        check_native(BUILD, folder_of(top, 'native', processes=[[], [GCCS]]))
        refused('no OpenMP', check_native, BUILD, folder_of(top, 'without', processes=[['/usr/lib/libc.so.6']]))
        refused('FULT in a native run', check_native, BUILD, folder_of(top, 'ours', processes=[[GCCS], [OURS]]))


def libraries_of_a_run_on_fult():
    alone, ranks = Case('c', [], {}), Case('c', [], {}, ranks=2)
    started = STARTED + '; what is known\n'
    with tempfile.TemporaryDirectory() as top:
        check_ours(BUILD, alone, folder_of(top, 'right', errors=started, processes=[[], [OURS]]), 1)
        check_ours(BUILD, ranks, folder_of(top, 'ranks', errors=started * 2 + RANKS, processes=[[OURS], [OURS]]), 2)
        for what, case, errors, processes in (
                ('no library', alone, started, [[]]), ('that of gcc', alone, started, [[OURS], [GCCS]]),
                ('loaded, not used', alone, '', [[OURS]]), ('a report', alone, started + 'fult: deadlock\n', [[OURS]]),
                ('one of two ranks', ranks, started + RANKS, [[OURS], []]), ('one of two runtimes', ranks, started + RANKS, [[OURS], [OURS]]),
                ('no layer', ranks, started * 2, [[OURS], [OURS]]),
                ('no operations', ranks, started * 2 + RANKS.replace('5 op', '0 op'), [[OURS], [OURS]])):
            refused(what, check_ours, BUILD, case, folder_of(top, what.replace(' ', '_'), errors=errors, processes=processes), case.ranks or 1)


if __name__ == '__main__':
    sys.exit(run_checks([different_results, what_differs_is_named, lines_between_marks, libraries_of_a_native_run, libraries_of_a_run_on_fult]))
