"""FULT in gdb: the tasks of a process, or of a core file, and the stacks of those that are suspended.

    source fult.py          (installed, gdb loads it by itself together with libfult.so)
    fult tasks              every task: its name, what it does, and where
    fult bt TASK            the stack of a suspended task, named as 0:17 (home:slot) or by its address
    fult bt all             all of them, equal stacks together

Needs no debug information of the library: its symbol fult_debug says where everything lies. Works on x86-64.
"""
import struct

import gdb

FIELDS = ('version', 'workers', 'homes', 'task_size', 'tasks', 'ready_bytes', 'slot_words', 'current', 'lines',
          'upper_lines', 'upper_slot', 'state', 'context', 'stack', 'extras', 'wait_record', 'outer', 'stack_base',
          'stack_size', 'name_in_extras', 'ops', 'storage', 'foreign_home')
OPENMP_FIELDS = ('version', 'ops', 'function', 'data', 'flags', 'implicit')
OPENMP_CALLERS = 4
SLOTS_IN_LINE = 512
BUSY = 0

# Where jump_fcontext (Boost.Context, x86-64) has saved the registers of the suspended function. Above are 64 bytes
# of it and a gap of 128 (call_that_jumps_back in fult/detail/platform.hpp).
SAVED = {'r12': 0x08, 'r13': 0x10, 'r14': 0x18, 'r15': 0x20, 'rbx': 0x28, 'rbp': 0x30, 'rip': 0x38}
FRAME = 192


def read(address, size):
    return gdb.selected_inferior().read_memory(address, size).tobytes()


def word(address):
    return struct.unpack('<Q', read(address, 8))[0]


def half(address):
    return struct.unpack('<I', read(address, 4))[0]


def symbol_at(address):
    """The function's name and the distance to its beginning."""
    text = gdb.execute(f'info symbol {address:#x}', to_string=True).strip()
    return text.split(' in section')[0] if ' in section' in text else f'{address:#x}'


class Task:
    def __init__(self, team, home, slot):
        self.team, self.home, self.slot = team, home, slot
        self.address = team.homes[home] + team.tasks + slot * team.task_size
        self.context = word(self.address + team.context)
        self.busy = half(self.address + team.state) == BUSY
        self.worker = None
        self.joins_above = False  # a task that it joins has its stack

    @property
    def label(self):
        home = 'outside' if self.home == len(self.team.homes) - 1 else self.home
        return f'{home}:{self.slot}'

    @property
    def name(self):
        if self.home == 0 and self.slot == 1:
            return 'main'
        extras = word(self.address + self.team.extras)
        try:
            if not extras:
                return self.team.openmp.name(word(self.address + self.team.storage)) if self.is_openmp else ''
            text = extras + self.team.name_in_extras
            return read(word(text), min(word(text + 8), 128)).decode(errors='replace')
        except gdb.MemoryError:  # it ends just now
            return ''

    @property
    def is_openmp(self):
        return self.team.openmp is not None and word(self.address + self.team.ops) == self.team.openmp.ops

    @property
    def waits_for(self):
        """What its wait record says, which is on its stack above the saved registers."""
        low = half(self.address + self.team.wait_record)
        if low == 0:
            return 'a signal'
        at = (self.context & ~0xffffffff) | low
        told = word(at if at >= self.context else at + (1 << 32))
        what, thing = word(told), word(told + 8)
        if what == 0:
            return 'something'
        text = gdb.Value(what).cast(gdb.lookup_type('char').pointer()).string()
        return f'{text} at {thing:#x}' if thing else text

    def private(self):
        """True if it is ready and private to its home."""
        home = self.team.homes[self.home]
        bit = 1 << (self.slot & 63)
        entry = home + self.team.slot_words + (self.slot >> 6) * 32
        if word(entry + 16) & bit:  # a thief has moved it
            return False
        return word(entry + 8) & bit != 0 or read(home + self.team.ready_bytes + self.slot, 1) != b'\0'

    def describe(self):
        if self.worker is not None:
            return f'runs on worker {self.worker}'
        if self.joins_above:
            return 'joins a task that runs on its stack'
        if self.busy:
            return 'may resume' if self.context else 'may start'
        if not self.context:
            return 'may start'
        return f'waits for {self.waits_for}'


class OpenMP:
    """What libfult-omp's symbol fult_omp_debug says of the records of OpenMP tasks (frames)."""

    def __init__(self, table):
        count = len(OPENMP_FIELDS)
        values = struct.unpack(f'<{count + 2 * OPENMP_CALLERS}Q', read(table, 8 * (count + 2 * OPENMP_CALLERS)))
        self.__dict__.update(zip(OPENMP_FIELDS, values))
        callers = values[count:]
        self.callers = {callers[i]: callers[i + 1] for i in range(0, len(callers), 2) if callers[i]}

    @staticmethod
    def loaded():
        try:
            found = OpenMP(int(gdb.parse_and_eval('(unsigned long)&fult_omp_debug')))
        except gdb.error:
            return None
        return found if found.version == 1 else None

    def name(self, frame):
        kind = 'OpenMP region' if half(frame + self.flags) & self.implicit else 'OpenMP task'
        function = word(frame + self.function)
        if function in self.callers:
            function = word(word(frame + self.data) + self.callers[function])
        symbol = symbol_at(function)
        line = gdb.find_pc_line(function)
        place = f' at {line.symtab.filename}:{line.line}' if line.symtab else ''
        if '._omp_fn' in symbol:
            return f'{kind} of {symbol.partition("._omp_fn")[0]}{place}'
        return kind + (place or f' {symbol}')  # clang's names of outlined functions do not have the source's


class Team:
    """The runtime of the process."""

    def __init__(self):
        try:
            table = int(gdb.parse_and_eval('(unsigned long)&fult_debug'))
        except gdb.error as error:
            raise gdb.GdbError('libfult is not loaded here: start the program first') from error
        values = struct.unpack(f'<{len(FIELDS)}Q', read(table, 8 * len(FIELDS)))
        self.__dict__.update(zip(FIELDS, values))
        if self.version != 3:
            raise gdb.GdbError(f'this fult.py knows libfult\'s table of version 3, not {self.version}')
        if self.workers == 0:
            raise gdb.GdbError('no runtime is running')
        self.homes = [word(values[2] + 8 * i) for i in range(self.workers)] + [self.foreign_home]
        self.openmp = OpenMP.loaded()

    def task(self, text):
        task = self.named(text)
        task.worker = self.running().get(task.address)
        return task

    def named(self, text):
        if ':' in text:
            home, slot = text.split(':')
            return Task(self, len(self.homes) - 1 if home == 'outside' else int(home), int(slot))
        address = int(gdb.parse_and_eval(text)) & ~1
        for number, home in enumerate(self.homes):
            if home + self.tasks <= address < home + (1 << 32):
                return Task(self, number, (address - home - self.tasks) // self.task_size)
        raise gdb.GdbError(f'{text} is no task: name it as `fult tasks` does')

    def running(self):
        """The worker of each running task, and of the tasks whose joins run it."""
        running = {}
        for number, home in enumerate(self.homes[:-1]):
            task = word(home + self.current)
            while self.is_descriptor(task) and task not in running:
                running[task] = number
                task = self.below(task)
        return running

    def below(self, task):
        """The task whose join runs this one on its stack; any number if there is none."""
        return word(task + self.outer) & ~7  # without its marks (at_end_mask); a group's task has its group there

    def joining_below(self, task, seen):
        """Those below a suspended task, from inside to outside."""
        address = self.below(task.address)
        while self.is_descriptor(address) and address not in seen:
            seen.add(address)
            outer = self.named(f'{address:#x}')
            outer.joins_above = True
            yield outer
            address = self.below(address)

    def is_descriptor(self, address):
        """True if the address is a slot that has been in use: words of running tasks may have any value."""
        home = address & ~0xffffffff
        if home not in self.homes or address - home < self.tasks or address % self.task_size:
            return False
        slot = (address - home - self.tasks) // self.task_size
        first, lines = (self.upper_slot, self.upper_lines) if slot >= self.upper_slot else (0, self.lines)
        return slot < first + half(home + lines) * SLOTS_IN_LINE

    def all(self):
        running = self.running()
        seen = set(running)
        for number, home in enumerate(self.homes):
            for lines, first in ((self.lines, 0), (self.upper_lines, self.upper_slot)):
                for slot in range(first, first + half(home + lines) * SLOTS_IN_LINE):
                    if slot & 63 == 0:  # never used
                        continue
                    try:
                        task = Task(self, number, slot)
                    except gdb.MemoryError:  # beyond the last slot that FULT_MAX_TASKS allows
                        break
                    task.worker = running.get(task.address)
                    # One with a context is suspended, if only until its worker's next decision.
                    if task.worker is not None or not task.busy or task.context or task.private():
                        yield task
                    if task.context and task.worker is None:
                        yield from self.joining_below(task, seen)


class SuspendedUnwinder:
    """While it has a context, the innermost frame of the selected thread appears to be called by the task of that context."""

    name = 'fult'
    enabled = True

    def __init__(self):
        self.context = None

    def __call__(self, pending):
        if self.context is None or int(pending.read_register('rsp')) != self.innermost:
            return None
        context = self.context

        class Identity:
            sp = gdb.Value(context)  # below all that follow, as gdb expects it
            pc = gdb.Value(word(context + SAVED['rip']))

        info = pending.create_unwind_info(Identity())
        for register, offset in SAVED.items():
            info.add_saved_register(register, self.value(pending, register, word(context + offset)))
        info.add_saved_register('rsp', self.value(pending, 'rsp', context + FRAME))
        return info

    @staticmethod
    def value(pending, register, number):
        return gdb.Value(number).cast(pending.read_register(register).type) if register not in ('rip', 'rsp', 'rbp') \
            else gdb.Value(number).cast(gdb.lookup_type('unsigned long')).cast(pending.read_register(register).type)

    def frames(self, context):
        """The return addresses of a context and how gdb prints them."""
        self.innermost = int(gdb.newest_frame().read_register('rsp'))
        self.context = context
        gdb.invalidate_cached_frames()
        try:
            addresses, frame = [], gdb.newest_frame().older()
            while frame is not None and len(addresses) < 200:
                addresses.append(frame.pc())
                frame = frame.older()
            text = gdb.execute('bt 200', to_string=True)
            lines = [line for line in text.splitlines() if line and not line.startswith('#0 ')]
        finally:
            self.context = None
            gdb.invalidate_cached_frames()
        return tuple(addresses), lines


unwinder = SuspendedUnwinder()


class Fult(gdb.Command):
    """Tasks of FULT: `fult tasks`, `fult bt TASK`, `fult bt all`."""

    def __init__(self):
        super().__init__('fult', gdb.COMMAND_STACK, prefix=True)


class FultTasks(gdb.Command):
    """Lists every task: home:slot, name, what it does, and where it is suspended."""

    def __init__(self):
        super().__init__('fult tasks', gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        count = 0
        for task in Team().all():
            count += 1
            name = f" '{task.name}'" if task.name else ''
            print(f'{task.label}{name} ({task.address:#x}) {task.describe()}')
        print(f'{count} tasks')


class FultBacktrace(gdb.Command):
    """fult bt TASK, or fult bt all: the stacks of suspended tasks."""

    def __init__(self):
        super().__init__('fult bt', gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        team = Team()
        if argument.strip() != 'all':
            self.one(team.task(argument.strip()))
            return
        groups = {}
        for task in team.all():
            if task.context and task.worker is None:
                addresses, lines = unwinder.frames(task.context)
                groups.setdefault(addresses, ([], lines))[0].append(task)
        for tasks, lines in sorted(groups.values(), key=lambda group: -len(group[0])):
            names = ', '.join(task.label for task in tasks[:8]) + (', ...' if len(tasks) > 8 else '')
            print(f'{len(tasks)} task{"s" if len(tasks) > 1 else ""}: {names}; {tasks[0].describe()}')
            print('\n'.join(lines))

    @staticmethod
    def one(task):
        if task.worker is not None:
            raise gdb.GdbError(f'{task.label} {task.describe()}: see `info threads`')
        if not task.context:
            raise gdb.GdbError(f'{task.label} has no stack: it has not started, or is none')
        print(f'{task.label} {task.describe()}')
        print('\n'.join(unwinder.frames(task.context)[1]))


import gdb.unwinder  # noqa: E402

gdb.unwinder.register_unwinder(None, unwinder, replace=True)
Fult()
FultTasks()
FultBacktrace()
