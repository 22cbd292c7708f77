// What is notified of the end of operations: synchronizers, queues, and the program's own objects.
#include <atomic>
#include <numeric>

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {
namespace {

constexpr std::size_t sizes[] = {0, 8, 3000, 50'000};

// Sends, receives, puts and gets of all sizes, and one wake-up.
void synchronized(party &p) {
    std::vector<std::byte> memory(50'000), got(50'000);
    region own(p.world, memory);
    std::vector<remote_region> all(static_cast<std::size_t>(p.size));
    allgather(p.world, own.remote(), all);
    const remote_region &next = all[static_cast<std::size_t>(p.next())];
    synchronizer through(p.world, 0);
    require(through.test(), "of nothing");
    through.wait();
    for (std::uint64_t round = 0; round < 4; ++round) {
        std::vector<std::vector<std::byte>> out, in;
        for (const std::size_t size : sizes) {
            out.push_back(bytes_of(round + size, size));
            in.emplace_back(size);
        }
        through.reset(2 * std::size(sizes) + 2);
        for (std::uint32_t i = 0; i < std::size(sizes); ++i) {
            p.world.irecv(in[i].data(), sizes[i], p.previous(), i, through);
            p.world.isend(out[i].data(), sizes[i], p.next(), i, through);
        }
        iput(p.world, out.back().data(), out.back().size(), next, 0, through);
        handle<void> other = spawn([&] { through.wait(); }); // any number may wait
        handle<void> last = spawn([&] { through.arrive(); });
        through.wait();
        require(through.test(), "all have come");
        other.join();
        last.join();
        for (std::uint32_t i = 0; i < std::size(sizes); ++i)
            require(in[i] == out[i], "what was received");
        synchronizer once(p.world, 1);
        iget(p.world, got.data(), got.size(), next, 0, once);
        once.wait();
        require(got == out.back(), "what was got");
        p.barrier();
    }
}

// Each end comes once, with its note.
void listed(party &p) {
    std::vector<std::byte> memory(50'000), got(50'000);
    region own(p.world, memory);
    std::vector<remote_region> all(static_cast<std::size_t>(p.size));
    allgather(p.world, own.remote(), all);
    const remote_region &next = all[static_cast<std::size_t>(p.next())];
    completion_queue ended(p.world);
    require(!ended.try_pop(), "nothing yet");
    std::vector<std::vector<std::byte>> out, in;
    for (const std::size_t size : sizes) {
        out.push_back(bytes_of(size, size));
        in.emplace_back(size);
    }
    constexpr auto count = static_cast<std::uint32_t>(std::size(sizes));
    for (std::uint32_t i = 0; i < count; ++i) {
        p.world.irecv(in[i].data(), sizes[i], p.previous(), i, ended, i);
        p.world.isend(out[i].data(), sizes[i], p.next(), i, ended, 100 + i);
        iput_signal(p.world, out[i].data(), sizes[i], next, 0, 50 + i, ended, 200 + i);
        p.world.recv(nullptr, 0, p.previous(), 50 + i);
    }
    iget(p.world, got.data(), got.size(), next, 0, ended, 300);
    std::vector<unsigned> seen(400, 0);
    // Two consumers, one that waits and one that polls.
    std::atomic<std::uint32_t> taken{0};
    const auto note = [&](const completion_event &what) {
        require(what.failure == errc::none, "went well");
        const std::uint64_t which = what.user_data % 100;
        require_equal(what.envelope.source, what.user_data < 100 ? p.previous() : p.next(), "the other rank");
        require_equal(what.envelope.size, what.user_data == 300 ? got.size() : sizes[which], "size");
        ++seen[what.user_data];
        ++taken;
    };
    for (std::uint32_t i = 0; i < count; ++i)
        note(ended.pop());
    while (taken != 3 * count + 1) {
        if (const auto what = ended.try_pop())
            note(*what);
        else
            this_task::yield();
    }
    for (std::uint32_t i = 0; i < count; ++i)
        require(seen[i] == 1 && seen[100 + i] == 1 && seen[200 + i] == 1, "each once");
    require(seen[300] == 1 && !ended.try_pop(), "each once");
    p.barrier();
    // Tasks that wait before anything has come.
    std::atomic<std::uint64_t> sum{0};
    std::vector<handle<void>> tasks;
    for (int i = 0; i < 10; ++i)
        tasks.push_back(spawn([&] { sum += ended.pop().user_data; }));
    this_task::yield();
    std::vector<int> numbers(10), sent(10, 1);
    for (std::uint32_t i = 0; i < 10; ++i)
        p.world.irecv(&numbers[i], sizeof(int), p.previous(), i, ended, i + 1);
    outbox box(p.world);
    for (std::uint32_t i = 0; i < 10; ++i)
        box.send(1, p.next(), i);
    join_all(tasks);
    require_equal(sum.load(), std::uint64_t{55}, "the notes");
    p.barrier();
}

// Messages and signals count too, and failures are reported.
void notifies_handlers(party &p) {
    std::vector<std::uint64_t> memory(static_cast<std::size_t>(p.size));
    region own(p.world, memory);
    std::vector<remote_region> all(static_cast<std::size_t>(p.size));
    allgather(p.world, own.remote(), all);
    synchronizer both(p.world, 2 * static_cast<std::size_t>(p.size));
    endpoint active =
        p.make_endpoint({.delivery = delivery::handler,
                         .handler = [&](const status &, std::span<const std::byte>) { both.arrive(); }});
    p.barrier();
    const std::uint64_t mine = 7 + static_cast<std::uint64_t>(p.rank);
    for (int to = 0; to < p.size; ++to) {
        put_signal(active, std::span(&mine, 1), all[static_cast<std::size_t>(to)],
                   static_cast<std::size_t>(p.rank) * 8, 1);
        active.send(1, to, 2);
    }
    both.wait();
    for (int from = 0; from < p.size; ++from)
        require_equal(memory[static_cast<std::size_t>(from)], 7 + static_cast<std::uint64_t>(from), "bytes");

    synchronizer too_long(p.world, 2);
    int small = 0;
    const std::vector<int> large(100, 3);
    outbox box(p.world);
    p.world.irecv(&small, sizeof small, p.previous(), 8, too_long);
    p.world.irecv(&small, sizeof small, p.previous(), 9, too_long);
    box.send(bytes_of(1, 400), p.next(), 8);
    box.send(5, p.next(), 9);
    require_error(errc::truncated, [&] { too_long.wait(); });
    require_equal(small, 5, "the one that fits");
    remote_region wrong = all[static_cast<std::size_t>(p.next())];
    wrong.size = 1 << 20;
    too_long.reset(1);
    iget(p.world, &small, sizeof small, wrong, 800'000, too_long);
    require_error(errc::refused, [&] { too_long.wait(); });
    require_throw<std::out_of_range>([&] { p.world.isend(nullptr, 0, p.size, 0, too_long); });
    p.barrier();
}

constexpr conformance_case all_completion_cases[] = {
    {"synchronized", synchronized},
    {"listed", listed},
    {"notifies_handlers", notifies_handlers},
};

} // namespace

std::span<const conformance_case> completion_cases() { return all_completion_cases; }

} // namespace fult::comm::testing
