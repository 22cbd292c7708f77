"""The build directories and the steps of ./check, and which tier runs them."""
import os
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

GCC = {'CC': 'gcc', 'CXX': 'g++'}
CLANG = {'CC': 'clang-14', 'CXX': 'clang++-14'}


@dataclass
class Config:
    """A build directory, the programs it needs, and a command that provides more (exit status 77: not possible here)."""
    arguments: list
    compiler: dict = field(default_factory=lambda: GCC)
    programs: list = field(default_factory=list)
    first: list = field(default_factory=list)


@dataclass
class Step:
    """A set of tests in one or more build directories; without `suites`, all tests that have no step of their own."""
    name: str
    config: str | list
    suites: list = field(default_factory=list)
    build: bool = True
    setup: str = ''
    targets: list = field(default_factory=list)  # of ninja; all if empty
    without: list = field(default_factory=list)  # suites that are left out
    alone: bool = False  # one test after the other, and nothing beside them
    what: str = ''

    def __post_init__(self):
        self.what = self.what or WHAT[self.name]

    def configs(self):
        return [self.config] if isinstance(self.config, str) else self.config

    def takes(self, suites):
        """Whether a test of these suites belongs to the step."""
        return (not self.suites or not suites.isdisjoint(self.suites)) and suites.isdisjoint(self.left_out())

    def left_out(self):
        return self.without if self.suites else SEPARATE + self.without


# NAME TIER WHAT a line, in the order in which the steps run. ./check reads the file, too, before Python is installed.
LINES = [line.split(None, 2) for line in (ROOT / 'tools' / 'check_steps.txt').read_text().splitlines()]
WHAT = {name: what for name, _, what in LINES}

# Suites with steps of their own.
SEPARATE = ['model', 'model-large', 'layout', 'install', 'docs', 'long', 'fresh', 'timed', 'slurm', 'soak', 'readme', 'tidy',
            'verbs-vm', 'real']

# Compiling takes longest. With -O1 it takes half as long as with -O3; sources are compiled twelve at a time.
GATE = ['-Dbuildtype=plain', '-Doptimization=1', '-Db_ndebug=false', '-Dbenchmarks=disabled', '-Dtogether=12']
# With line tables, for the reports of sanitizers.
CHECKED = [*GATE, '-Dcpp_args=-g1', '-Dc_args=-g1']
HARDENED = '-D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection'
if os.uname().machine == 'x86_64':
    HARDENED += ' -fcf-protection'

CONFIGS = {
    'gcc': Config([*GATE, '-Ddocs=enabled']),
    'asan': Config([*CHECKED, '-Db_sanitize=address,undefined']),
    # As it is released, with the benchmarks. The step `readme` and sources_alone compile each file by itself, as users do.
    'release': Config(['-Dbuildtype=release', '-Dtogether=12']),
    'clang': Config(['-Dbuildtype=release', '-Dbenchmarks=disabled', '-Dtidy=enabled', '-Dtogether=12'], CLANG),
    'tsan': Config([*CHECKED, '-Db_sanitize=thread']),
    # The flags of CHECKED would replace those of the cross file.
    'aarch64': Config(['--cross-file=build/arm64-root/root.txt', '--cross-file=tools/cross/aarch64.txt', *GATE, '-Dcomm=disabled',
                       '-Domp=disabled'], {},
                      ['aarch64-linux-gnu-g++', 'qemu-aarch64-static'], ['tools/cross/sysroot', 'arm64']),
    # Without precompiled headers each file must include what it uses.
    'O0': Config(['-Dbuildtype=plain', '-Doptimization=0', '-Db_pch=false', '-Db_ndebug=false', '-Dbenchmarks=disabled']),
    'lto': Config(['-Dbuildtype=plain', '-Doptimization=2', '-Db_lto=true', '-Db_ndebug=true', '-Dbenchmarks=disabled',
                   '-Domp=disabled']),
    # Valgrind's tests use it, too: they need a build without sanitizers.
    'hardened': Config(['-Dbuildtype=plain', '-Doptimization=2', '-Db_ndebug=false', '-Db_pie=true', '-Dbenchmarks=disabled',
                        '-Dvalgrind=enabled', '-Domp=disabled', '-Dtogether=12',
                        f'-Dc_args={HARDENED}', f'-Dcpp_args={HARDENED} -D_GLIBCXX_ASSERTIONS',
                        '-Dc_link_args=-Wl,-z,relro,-z,now', '-Dcpp_link_args=-Wl,-z,relro,-z,now']),
}

STEPS = [
    Step('gcc', 'gcc'),
    Step('layout', 'gcc', ['layout'], build=False),
    Step('docs', 'gcc', ['docs'], build=False),
    Step('models', 'gcc', ['model'], build=False),
    Step('install', 'gcc', ['install']),
    Step('asan', 'asan', ['unit', 'comm-unit', 'global-unit'], targets=['unit-tests', 'comm-unit-tests', 'global-unit-tests']),
    Step('release', 'release'),
    Step('long', 'release', ['long', 'fresh', 'slurm']),
    Step('readme', 'release', ['readme'], build=False),
    Step('models-all', 'release', ['model-large'], build=False),
    Step('clang', 'clang', ['unit', 'regression', 'fuzz'],
         targets=['libraries', 'unit-tests', 'load-tests', 'fuzz-programs']),
    Step('tidy', 'clang', ['tidy'], build=False),
    Step('asan-all', 'asan'),
    Step('tsan', 'tsan'),
    Step('valgrind', 'hardened', ['unit'], setup='valgrind', targets=['unit-tests'], without=['scheduling']),
    # OpenMP is in O0 alone: its programs meet assertions there.
    Step('variants', ['O0', 'lto', 'hardened'], ['sample', 'omp'], targets=['libraries', 'sample-tests']),
    Step('aarch64', 'aarch64', ['core'], setup='emulated', targets=['core-tests']),
    Step('verbs-vm', 'release', ['verbs-vm']),
    Step('real', 'release', ['real'], targets=['libraries']),
    Step('soak', 'release', ['soak']),
    Step('timed', 'release', ['timed'], alone=True),
]
# Steps of the gate whose tests are all among those of another step.
CONTAINED = {'asan': 'asan-all', 'models': 'models-all'}


def steps_of(tier, names):
    """The steps of a tier, 'gate' or 'full', or those that are named; in the order of STEPS."""
    if names:
        return [step for step in STEPS if step.name in names]
    gate = [name for name, of, _ in LINES if of == 'gate']
    return [step for step in STEPS if (step.name in gate if tier == 'gate' else step.name not in CONTAINED)]


def quick(suites, targets):
    """The steps of ./check --quick: tests of these suites, of which `targets` are built."""
    return [Step('gcc', 'gcc', suites, targets=targets, what='g++, warnings are errors: ' + ', '.join(suites)),
            next(step for step in STEPS if step.name == 'layout')]
