"""What ./check --quick runs: the unit and regression tests of a folder, or of what has changed."""
import json
import subprocess
from pathlib import Path

from .builds import BUILD, configure
from .commands import last_line, say
from .plan import ROOT, quick
from .result import git
from .runs import LOGS

ALL = ['unit', 'regression']
# Folders whose change may change everything.
EVERYWHERE = ('include', 'fult/base', 'tests/support')


def introspected(what):
    return json.loads(subprocess.run(['meson', 'introspect', str(BUILD / 'gcc'), f'--{what}'], capture_output=True, text=True,
                                     check=True).stdout)


def suites(tests):
    return {suite.rpartition(':')[2] for test in tests for suite in test['suite']}


def changed_folders():
    """The folders of the files that differ from the last commit, or, if none does, that this commit has changed; None without git."""
    names = git('status', '--porcelain', '--no-renames', '--untracked-files=all')
    if names is None:
        return None
    files = [line[3:] for line in names.splitlines()] or (git('diff', '--name-only', 'HEAD~1') or '').splitlines()
    return sorted({str(Path(name).parent) for name in files})


def folder_suites(folder, known):
    """The suites of a folder: tests/ mirrors the source, and each test has its folder as a suite."""
    parts = Path(folder).parts
    inside = '/'.join(parts[1:] if parts[:1] == ('tests',) else parts)
    return sorted(suite for suite in known if inside and (suite == inside or suite.startswith(inside + '/')))


def chosen(folder, known):
    """The suites to run, and why."""
    if folder:
        found = folder_suites(folder.rstrip('/'), known)
        if not found:
            raise SystemExit(f"check: no test belongs to '{folder}'; the folders are "
                             + ' '.join(sorted(s for s in known if '/' in s or (ROOT / 'tests' / s).is_dir())))
        return found
    folders = changed_folders()
    if folders is None or any(name == each or name.startswith(each + '/') for name in folders for each in EVERYWHERE):
        return ALL
    return sorted({suite for name in folders for suite in folder_suites(name, known)}) or ALL


def targets_of(tests):
    """The files that ninja makes for the tests."""
    wanted = {target for test in tests for target in test['depends']}
    return sorted(str(Path(file).relative_to(BUILD / 'gcc')) for target in introspected('targets') if target['id'] in wanted
                  for file in target['filename'])


def cost_of_first(build):
    """A warning where nothing has been compiled yet; else nothing."""
    if (build / '.ninja_log').exists():
        return ''
    return ('the first run compiles the library and the programs of these tests: about three minutes on two cores;'
            ' later ones compile what has changed')


def steps(folder):
    """The steps of ./check --quick [FOLDER]."""
    if cost := cost_of_first(BUILD / 'gcc'):
        say(f'check: {cost}')
    log = LOGS / 'gcc.log'
    LOGS.mkdir(parents=True, exist_ok=True)
    if configure('gcc', log, lambda *_: say('      ... configuring')) != 0:
        raise SystemExit(f'check: configuring failed: {last_line(log)}')
    tests = introspected('tests')
    wanted = chosen(folder, suites(tests))
    say(f'tests of {", ".join(wanted)}')
    return quick(wanted, targets_of([test for test in tests if not suites([test]).isdisjoint(wanted)]))
