// Many tasks at once, and threads that are no workers.
#include <atomic>
#include <thread>

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {
namespace {

// Pairs of tasks, one of this rank and one of the next, that send a message back and forth.
void many_tasks(party &p) {
    const auto pairs = static_cast<std::uint32_t>(fult::testing::sanitized ? 100 : 1000);
    endpoint there = p.make_endpoint({}), back = p.make_endpoint({});
    std::atomic<int> wrong{0};
    std::vector<handle<void>> tasks;
    for (std::uint32_t tag = 0; tag < pairs; ++tag) {
        const std::size_t size = tag % 50 == 0 ? 20'000 : 16 + tag % 40;
        tasks.push_back(spawn([&p, &there, &back, &wrong, tag, size] {
            const std::vector<std::byte> out = bytes_of(tag, size);
            std::vector<std::byte> in(size);
            for (int i = 0; i < 5; ++i) {
                there.send(out, p.next(), tag);
                back.recv(in, p.next(), tag);
                wrong += in == out ? 0 : 1;
            }
        }));
        tasks.push_back(spawn([&p, &there, &back, tag, size] {
            std::vector<std::byte> in(size);
            for (int i = 0; i < 5; ++i) {
                there.recv(in, p.previous(), tag);
                back.send(in, p.previous(), tag);
            }
        }));
    }
    join_all(tasks);
    require_equal(wrong.load(), 0, "wrong messages");
    p.barrier();
}

// Many receives of one tag by as many tasks: each message is received once.
void one_queue_for_all(party &p) {
    constexpr int count = 500;
    std::vector<std::atomic<int>> seen(count);
    std::vector<handle<void>> tasks;
    for (int i = 0; i < count / 10; ++i)
        tasks.push_back(spawn([&] {
            for (int k = 0; k < 10; ++k)
                ++seen[static_cast<std::size_t>(p.world.recv<int>(p.previous(), 3))];
        }));
    for (int i = 0; i < 5; ++i)
        tasks.push_back(spawn([&p, i] {
            for (int k = i; k < count; k += 5)
                p.world.send(k, p.next(), 3);
        }));
    join_all(tasks);
    for (const std::atomic<int> &each : seen)
        require_equal(each.load(), 1, "times that a message was received");
}

void foreign_threads(party &p) {
    const task_id me = this_task::id();
    std::atomic<int> ended{0};
    std::atomic<bool> wrong{false};
    std::vector<std::thread> threads;
    constexpr std::uint32_t count = 4;
    for (std::uint32_t k = 0; k < count; ++k)
        threads.emplace_back([&, k] {
            try {
                for (std::uint32_t i = 0; i < 50; ++i) {
                    const std::size_t size = i % 10 == 9 ? 30'000 : i * 8;
                    const std::vector<std::byte> out = bytes_of(i, size);
                    std::vector<std::byte> in(size);
                    request coming = p.world.irecv(in, p.previous(), k);
                    p.world.send(out, p.next(), k); // the receive for it is there, or will be
                    coming.wait();
                    outbox more(p.world);
                    more.send(static_cast<int>(i), p.next(), k + count);
                    if (p.world.recv<int>(p.previous(), k + count) != static_cast<int>(i))
                        wrong = true;
                    if (in != out)
                        wrong = true;
                }
            } catch (const std::exception &) {
                wrong = true;
            }
            ++ended;
            signal(me);
        });
    this_task::wait([&] { return ended == static_cast<int>(count); });
    for (std::thread &each : threads)
        each.join();
    require(!wrong, "what the threads saw");
}

void barriers_of_a_crowd(party &p) {
    outbox out(p.world);
    for (int i = 0; i < 100; ++i)
        p.barrier();
    // A rank that has left a barrier has sent what it sent before.
    for (int i = 0; i < 20; ++i) {
        out.send(i, p.next(), 1);
        p.barrier();
        require_equal(p.world.recv<int>(p.previous(), 1), i, "value");
    }
}

constexpr conformance_case all_crowd_cases[] = {
    {"many_tasks", many_tasks},
    {"one_queue_for_all", one_queue_for_all},
    {"foreign_threads", foreign_threads},
    {"barriers", barriers_of_a_crowd},
};

} // namespace

std::span<const conformance_case> crowd_cases() { return all_crowd_cases; }

std::span<const conformance_case> conformance_cases() {
    static const std::vector<conformance_case> all = [] {
        std::vector<conformance_case> list;
        for (const auto part :
             {basic_cases(), request_cases(), order_cases(), delivery_cases(), one_sided_cases(),
              completion_cases(), crowd_cases(), subset_cases(), matched_cases(), layout_cases()})
            list.insert(list.end(), part.begin(), part.end());
        return list;
    }();
    return all;
}

} // namespace fult::comm::testing
