#include "spawning.hpp"

#include <algorithm>

namespace random_programs {

actor_group::actor_group(actor &maker, unsigned wanted, body what) : maker_(maker), what_(std::move(what)) {
    wanted = std::min(wanted, maker.in.how.most_tasks_at_a_time);
    for (unsigned i = 0; i < wanted; ++i) {
        const std::uint64_t seed = maker.random.next();
        if (maker.random.one_in(8) && maker.in.may_start_thread()) {
            add_thread(seed);
            continue;
        }
        auto task = spawn_somehow(maker, [this, seed, number = size_] { member(seed, number); });
        if (!task.valid())
            break;
        ++size_;
        tasks_.push_back(std::move(task));
    }
}

void actor_group::add_thread(std::uint64_t seed) {
    threads_left_.fetch_add(1, std::memory_order_relaxed);
    threads_.push_back(start_thread([this, seed, number = size_] {
        member(seed, number);
        maker_.in.thread_ended();
        if (threads_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) // pairs with the other threads'
            threads_gone_.set();
    }));
    ++size_;
}

void actor_group::member(std::uint64_t seed, unsigned number) {
    gate_.wait();
    actor self{maker_.in, draw(seed), 0};
    if (self.is_task())
        self.in.sign_in(self.random);
    what_(self, number);
    moved();
}

void actor_group::join() {
    open();
    wait_somehow_for(maker_, tasks_);
    fult::join_all(tasks_);
    tasks_.clear();
    if (threads_.empty())
        return;
    threads_gone_.wait(); // suspended; each joins within microseconds afterwards
    for (std::thread &each : threads_)
        each.join();
    threads_.clear();
}

} // namespace random_programs
