#include "tests/comm/random/scene.hpp"

#include <chrono>
#include <csignal>

namespace fult::comm::testing {

void fail_now() {
    static std::atomic<bool> was_sent{false};
    if (!was_sent.exchange(true, std::memory_order_relaxed))
        std::raise(last_signal.load(std::memory_order_relaxed));
}

void actor::doing(const char *call) {
    in.me.guard.stepped(shown, call);
    if (steps_to_live.load(std::memory_order_relaxed) > 0 &&
        steps_to_live.fetch_sub(1, std::memory_order_relaxed) == 1)
        fail_now();
}

void actor::pause() {
    if (foreign)
        std::this_thread::yield();
    else
        this_task::yield();
}

void actor::dawdle() {
    const unsigned what = roll.below(100U);
    if (what < 8)
        pause();
    else if (what < 10) {
        const auto time = std::chrono::microseconds(roll.below(300)); // time: either order is right
        if (foreign)
            std::this_thread::sleep_for(time); // time: either order is right
        else
            this_task::sleep_for(time); // time: either order is right
    } else if (what < 11) {
        in.me.progress();
    }
}

void actor_group::add(scene &in, const std::string &what, std::function<void(actor &)> body) {
    const bool foreign = me_.threads && roll_.chance(15);
    activity *const shown = me_.guard.enter("rank " + std::to_string(me_.rank) + ", " + in.name + ", " +
                                            what + (foreign ? " (thread)" : ""));
    const std::uint64_t seed = seed_of(in.seed, count_++, me_.rank, 99);
    auto run = [&in, foreign, shown, seed, body = std::move(body)] {
        actor one{in, foreign, dice(seed), shown};
        try {
            body(one);
        } catch (const std::exception &e) {
            in.fail(shown->name + ", in " + shown->call.load() + ": " + e.what());
        }
        in.me.guard.leave(shown);
    };
    if (!foreign) {
        tasks_.push_back(spawn(std::move(run)));
        return;
    }
    threads_left_.fetch_add(1, std::memory_order_relaxed);
    threads_.emplace_back([this, run = std::move(run)] {
        run();
        threads_left_.fetch_sub(1, std::memory_order_release); // with the acquire of join
    });
}

void actor_group::join() {
    join_all(tasks_);
    tasks_.clear();
    // Joining a thread blocks the worker. The thread makes progress by itself, but it may need tasks: of
    // another rank in this process, or those that messages start. So another worker must be able to run them.
    const bool at_once = roll_.chance(30) && me_.own_workers && fult::worker_count() > 1;
    while (!at_once && threads_left_.load(std::memory_order_acquire) != 0)
        this_task::sleep_for(std::chrono::microseconds(100)); // time: between polls
    for (std::thread &each : threads_)
        each.join();
    threads_.clear();
}

std::size_t random_size(dice &d, const comm::options &with, std::size_t most) {
    constexpr std::size_t borders[] = {8,    16,   64,   200,   232,   256,   488,     512,   4072,
                                       4096, 8168, 8192, 16384, 32768, 65536, 100'000, 131072};
    const auto around = [&](std::size_t border, std::size_t below, std::size_t above) {
        const std::size_t size = border + d.below(above + 1);
        const std::size_t less = d.below(below + 1);
        return size > less ? size - less : 0;
    };
    std::size_t size = 0;
    switch (d.below(10)) {
    case 0:
        size = 0;
        break;
    case 1:
    case 2:
    case 3:
        size = d.below(std::size_t{65});
        break;
    case 4:
        size = around(with.packet_size, 96, 8); // less the heads
        break;
    case 5:
        size = around(with.rendezvous, 3, 3);
        break;
    case 6:
        size = around(d.one_of(borders), 2, 2);
        break;
    case 7:
        size = d.below(std::size_t{1} << d.between(1, 16));
        break;
    case 8:
        size = around(with.packet_size * d.between(std::size_t{2}, std::size_t{5}), 100, 8);
        break;
    default:
        size = d.chance(30) ? d.below(std::size_t{600'000}) : d.below(std::size_t{20'000});
    }
    return size < most ? size : most;
}

} // namespace fult::comm::testing
