// Waits and signals by hand, from tasks, threads and handlers of signals.
#include <csignal>
#include <memory>
#include <mutex>
#include <pthread.h>

#include "acts.hpp"
#include "spawning.hpp"

namespace random_programs::perform {
namespace {

// The task that the handler signals.
std::atomic<std::uintptr_t> named_for_handler{0};

void on_user_signal(int) {
    if (const std::uintptr_t name = named_for_handler.load(std::memory_order_relaxed))
        fult::signal(fult::task_id::from_value(name));
}

void install_handler() {
    static std::once_flag installed;
    std::call_once(installed, [] {
        struct sigaction action {};
        action.sa_handler = on_user_signal;
        action.sa_flags = SA_RESTART | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        ::sigaction(SIGUSR2, &action, nullptr);
    });
}

} // namespace

void stray_signals(actor &a) {
    for (unsigned i = a.random.between(1, 10); i > 0; --i)
        a.in.signal_at_random(a.random);
}

// Waits for what another task gives, in each of the forms of wait.
void grant(actor &a) {
    const auto granted = std::make_shared<std::atomic<bool>>(false);
    auto giver = spawn_somehow(a, [granted, me = this_task::id()] {
        granted->store(true, std::memory_order_release); // pairs with the waits below
        fult::signal(me);
    });
    if (!giver.valid())
        return;
    if (a.random.one_in(2))
        giver.detach();
    const auto is_granted = [&] { return granted->load(std::memory_order_acquire); }; // pairs with the store
    std::stop_source stop;
    switch (a.random.below(5)) {
    case 0:
        this_task::wait(is_granted);
        break;
    case 1:
        while (!is_granted())
            this_task::wait();
        break;
    case 2:
        check(this_task::wait(stop.get_token(), is_granted), "a wait ended without a stop");
        break;
    case 3:
        stop.request_stop();
        this_task::wait(stop.get_token(), is_granted);
        break;
    default:
        while (!is_granted())
            this_task::yield();
        break;
    }
    if (giver.valid())
        giver.join();
}

// Two tasks throw a ball to each other.
void ball(actor &a) {
    struct game {
        std::atomic<unsigned> ball{0};
        std::atomic<std::uintptr_t> names[2]{};
    };
    const auto shared = std::make_shared<game>();
    const unsigned rounds = a.random.between(1, 50);
    const auto play = [shared, rounds](unsigned me) {
        shared->names[me].store(this_task::id().value(),
                                std::memory_order_release); // pairs with the load below
        for (unsigned i = me; i < 2 * rounds; i += 2) {
            this_task::wait([&] { return shared->ball.load(std::memory_order_acquire) == i; });
            shared->ball.store(i + 1, std::memory_order_release); // pairs with the other's load
            if (const auto other = shared->names[1 - me].load(std::memory_order_acquire))
                fult::signal(fult::task_id::from_value(other));
        }
    };
    shared->names[0].store(this_task::id().value(), std::memory_order_release);
    auto other = spawn_somehow(a, [play] { play(1); });
    if (!other.valid())
        return;
    // Its id is stored before it can wait for a ball: the first one to throw needs it.
    shared->names[1].store(other.id().value(), std::memory_order_release);
    play(0);
    other.join();
    check(shared->ball.load() == 2 * rounds, "the ball was lost");
}

// A handler of a signal, on this kernel thread, in the midst of whatever it does.
void signal_handler(actor &a) {
    install_handler();
    named_for_handler.store(a.in.board[a.random.below(program::names)].load(std::memory_order_relaxed),
                            std::memory_order_relaxed);
    for (unsigned i = a.random.between(1, 3); i > 0; --i) {
        ::pthread_kill(::pthread_self(), SIGUSR2);
        a.pause();
    }
    named_for_handler.store(0, std::memory_order_relaxed);
}

// A kernel thread that acts for a while.
void thread(actor &a) {
    if (!a.in.may_start_thread())
        return;
    fult::event done;
    const std::uint64_t seed = a.random.next();
    std::thread foreign = start_thread([&in = a.in, &done, seed, part = a.share(1)] {
        actor self{in, draw(seed), part};
        act(self);
        done.set();
    });
    done.wait();
    foreign.join();
    a.in.thread_ended();
}

} // namespace random_programs::perform
