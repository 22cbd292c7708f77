#include "program.hpp"

#include <sched.h>
#include <thread>

#include "scarcity.hpp"

namespace random_programs {

void actor::pause() noexcept {
    if (is_task())
        this_task::yield();
    else
        ::sched_yield();
}

namespace {

const act_kind &drawn_kind(draw &random) {
    static const unsigned sum = [] {
        unsigned all = 0;
        for (const act_kind &kind : acts)
            all += kind.weight;
        return all;
    }();
    unsigned at = random.below(sum);
    for (const act_kind &kind : acts) {
        if (at < kind.weight)
            return kind;
        at -= kind.weight;
    }
    return acts.front();
}

} // namespace

void act(actor &a) {
    if (a.is_task())
        a.in.sign_in(a.random);
    while (a.budget > 0) {
        --a.budget;
        // Two numbers an act whatever it does: leaving one kind out does not change the others.
        const act_kind &kind = drawn_kind(a.random);
        const std::uint64_t seed = a.random.next();
        const auto number = static_cast<std::size_t>(&kind - acts.data());
        if (a.in.how.without[number] || (kind.tasks_only && !a.is_task()) || a.in.tasks.is_full())
            continue;
        const draw after = a.random;
        a.random = draw(seed);
        kind.perform(a);
        a.random = after;
        moved();
    }
}

void run(program &p) {
    actor main_task{p, draw(p.how.seed), 0};
    const unsigned drawn = main_task.random.between(10, 120);
    main_task.budget = p.how.steps ? p.how.steps : drawn;
    const unsigned count = main_task.random.one_in(2) ? main_task.random.between(1, 3) : 0;
    fult::latch threads_done(count);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; ++i) {
        const std::uint64_t seed = main_task.random.next();
        const unsigned part = main_task.share(count + 1);
        threads.push_back(start_thread([&p, &threads_done, seed, part] {
            actor thread{p, draw(seed), part};
            act(thread);
            threads_done.count_down();
        }));
    }
    act(main_task);
    threads_done.wait(); // suspended: they may join tasks that this worker is to run
    for (std::thread &each : threads)
        each.join();
}

} // namespace random_programs
