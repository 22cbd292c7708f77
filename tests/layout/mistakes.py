#!/usr/bin/env python3
"""The commonest mistakes with templates fail to compile with one sentence that names the remedy, and no other error.

usage: mistakes.py ROOT COMPILER...
"""
import re
import subprocess
import sys
from pathlib import Path

BEGIN = '''#include <memory>
#include <string>
#include <vector>

#include <fult/comm.hpp>
#include <fult/fult.hpp>
#include <fult/global.hpp>
#include <fult/loops.hpp>
#include <fult/sync.hpp>

inline void increment(int &number) { ++number; }
template <int Number> struct entry { std::string name; };
'''
# (what is written, words of its only error). All are compiled at once, so each has types of its own.
MISTAKES = (
    ('auto task = fult::spawn([](int &) {}, number); task.join();', 'pass a reference as std::ref(x)'),
    ('auto task = fult::spawn({.name = "n"}, [](int &) {}, number); task.join();', 'pass a reference as std::ref(x)'),
    ('auto task = fult::spawn_on(0, [](int &) {}, number); task.join();', 'pass a reference as std::ref(x)'),
    ('fult::task_group group; group.spawn([](int &) {}, number);', 'pass a reference as std::ref(x)'),
    ('fult::parallel_for(0, 9, [] {});', 'the body must be callable with one index'),
    ('fult::parallel_for(0, 9, [](int, int) {});', 'the body must be callable with one index'),
    ('fult::parallel_for(numbers.begin(), numbers.end(), [](std::string) {});', 'the body must be callable with one index'),
    ('fult::parallel_for(fult::extent{2, 3}, [](std::ptrdiff_t) {});', 'callable with one index for each'),
    ('fult::parallel_for_ranges(0, 9, [](int) {});', 'callable with the begin and the end'),
    ('world.send(entry<0>{"n"}, 1, 2);', 'its type must be trivially copyable'),
    ('world.send(std::vector<entry<1>>(3), 1, 2);', 'its type must be trivially copyable'),
    ('world.send(&number, 1, 2);', 'its type must be trivially copyable and no pointer'),
    ('entry<2> into; world.recv(into, 1, 2);', 'its type must be trivially copyable'),
    ('auto got = world.recv<entry<3>>(1, 2);', 'its type must be trivially copyable'),
    ('entry<4> from; auto sent = world.isend(from, 1, 2);', 'its type must be trivially copyable'),
    ('auto one = fult::spawn([] {}); auto two = one;', 'pass the handle on by std::move'),
    ('fult::handle<void> one = fult::spawn([] {}), two; two = one;', 'pass the handle on by std::move'),
    ('auto one = fult::spawn([] {}); auto join = [one]() mutable { one.join(); };', 'pass the handle on by std::move'),
    ('fult::this_task::sleep_for(100);', 'a number has no unit'),
    ('fult::this_task::sleep_for(0.5);', 'a number has no unit'),
    ('number = fult::parallel_reduce(0, 9, 0, [](int i) { return i * 0.5; }, std::plus<>());', 'pass an identity of the wider type'),
    ('number = fult::parallel_reduce(0, 9, 0, [](int i) { return i * 0.5; }, std::plus<int>());', 'pass an identity of the wider type'),
    ('number = fult::parallel_reduce(0, 9, 0, [](int i) { return long{i}; }, std::plus<>());', 'pass an identity of the wider type'),
    ('fult::spawn([] {});', 'the handle detaches the task here'),
    ('fult::spawn_pinned(0, [] {});', 'the handle detaches the task here'),
    ('auto sent = world.isend(3, 1, 2);', 'deleted'),
    ('fult::global::memory m(world); auto p = m.allocate<entry<5>>();', 'their type must be trivially copyable'),
    ('fult::global::memory m(world); fult::global::global_vector<entry<6>> v(m, 9);', 'their type must be trivially copyable'),
    ('fult::global::memory m(world); fult::global::global_variable<entry<7>> v(m, 0, {});', 'their type must be trivially copyable'),
    ('fult::global::memory m(world); m.put(fult::global::global_ptr<entry<8>>(), entry<8>{});', 'their type must be trivially copyable'),
    ('fult::global::memory m(world); m.fetch_add(fult::global::global_ptr<bool>(), true);', 'use compare_exchange'),
    ('fult::global::memory m(world); auto t = fult::global::spawn_at(m, 1, [number] { return number; });', 'has no state'),
    ('fult::global::memory m(world); auto t = fult::global::spawn_at(m, 1, [](int *) {}, &number);', 'pass a global_ptr'),
)
# No mistakes.
RIGHT = '''
    auto task = fult::spawn(increment, std::ref(number));
    auto moved = std::move(task);
    fult::handle<void> any = std::move(moved);
    any.join();
    fult::task_group group;
    group.spawn([](std::stop_token) {});
    group.wait();
    world.send(3, 1, 2);
    world.send(numbers, 1, 2);
    const fult::comm::const_buffer buffers[] = {{&number, sizeof number}, {numbers.data(), 3 * sizeof(int)}};
    world.send(buffers, 1, 2);
    fult::global::memory memory(world);
    memory.put(memory.allocate<int>(3), numbers);
    number = memory.fetch_add(memory.allocate<int>(), 1);
    world.isend(number, 1, 2).wait();
    world.irecv(number, 1, 2).wait();
    number = world.recv<int>(1, 2);
    fult::this_task::sleep_for(std::chrono::milliseconds(1));
    [[maybe_unused]] const short all =
        fult::parallel_reduce(0, 9, short{0}, [](int i) { return static_cast<short>(i); }, std::plus<>());
    [[maybe_unused]] const std::size_t count =
        fult::parallel_reduce(0, 9, std::size_t{0}, [](int i) { return i % 2; }, std::plus<>());
    [[maybe_unused]] const double sum = fult::parallel_reduce(0, 9, 0.0, [](int i) { return i; }, std::plus<>());
    [[maybe_unused]] const bool every =
        fult::parallel_reduce(0, 9, true, [](int i) { return i < 9; }, [](bool a, bool b) { return a && b; });
'''


def errors(root, compiler, texts):
    """The errors, as the compiler's lines."""
    functions = '\n'.join(f"""void tried_{number}(fult::comm::endpoint &world);
void tried_{number}([[maybe_unused]] fult::comm::endpoint &world) {{
    [[maybe_unused]] int number = 0;
    [[maybe_unused]] std::vector<int> numbers(3);
    {text}
}}""" for number, text in enumerate(texts))
    command = [compiler, '-x', 'c++', '-std=c++20', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-Wno-unused-variable',
               '-Wno-unused-but-set-variable', '-fsyntax-only', f'-I{root / "include"}', '-']
    if 'clang' in Path(compiler).name:
        command.append('-ferror-limit=0')
    run = subprocess.run(command, input=f'{BEGIN}{functions}\n', capture_output=True, text=True)
    return [line for line in run.stderr.splitlines() if re.search(r'\berror: ', line)]


def wrong(root, compiler):
    """What is not as it should be."""
    said = errors(root, compiler, [RIGHT])
    if said:
        return ['what is right is refused', *said]
    said = errors(root, compiler, [text for text, _ in MISTAKES])
    result = []
    for text, words in MISTAKES:
        found = next((line for line in said if words in line), None)
        if found is None:
            result.append(f'no error says "{words}" for: {text}')
        else:
            said.remove(found)
    return result + [f'another error: {line}' for line in said]


def main():
    root, compilers = Path(sys.argv[1]), sys.argv[2:]
    failed = 0
    for compiler in compilers:
        for line in wrong(root, compiler):
            failed += 1
            print(f'{compiler}: {line}')
    print(f'{len(MISTAKES)} mistakes, {failed} errors')
    return 1 if failed or not compilers else 0


if __name__ == '__main__':
    sys.exit(main())
