// Ranks that fork in the midst of their traffic. The child is no rank: each of its calls ends it with the
// sentence that reports it, before anything is touched that the parent shares with other ranks. Messages of
// all acts show whether it has.
#include <string>

#include "tests/comm/random/scene.hpp"
#include "tests/support/in_child.hpp"
#include "tests/support/scale.hpp"

namespace fult::comm::testing {
namespace {

// The calls that a child tries. `open` is a receive that the parent has begun.
struct forked_call {
    const char *name;
    void (*call)(endpoint &through, request &open, int to);
};
constexpr forked_call forked_calls[] = {
    {"send", [](endpoint &e, request &, int to) { e.send(std::uint64_t{7}, to, 1); }},
    {"isend",
     [](endpoint &e, request &, int to) {
         const std::byte one{};
         e.isend(&one, 1, to, 1).wait();
     }},
    {"enqueue",
     [](endpoint &e, request &, int to) {
         const std::byte one{};
         (void)e.enqueue(&one, 1, to, 1);
     }},
    {"recv",
     [](endpoint &e, request &, int to) {
         std::byte one;
         e.recv(&one, 1, to, 1);
     }},
    {"irecv",
     [](endpoint &e, request &, int to) {
         std::byte one;
         e.irecv(&one, 1, to, 1).wait();
     }},
    {"probe", [](endpoint &e, request &, int to) { e.probe(to, 1); }},
    {"try_probe", [](endpoint &e, request &, int to) { (void)e.try_probe(to, 1); }},
    {"test", [](endpoint &, request &open, int) { (void)open.test(); }},
    {"wait", [](endpoint &, request &open, int) { open.wait(); }},
    {"cancel", [](endpoint &, request &open, int) { open.cancel(); }},
    {"region",
     [](endpoint &e, request &, int) {
         std::uint64_t word = 0;
         const region one(e, &word, sizeof word);
     }},
    {"synchronizer", [](endpoint &e, request &, int) { synchronizer(e, 1).wait(); }},
    {"completion_queue", [](endpoint &e, request &, int) { completion_queue(e).pop(); }},
};

void try_in_a_child(actor &by, request &open, int to) {
    scene &in = by.in;
    const forked_call &one = by.roll.one_of(forked_calls);
    const bool may_return = by.roll.chance(20);
    endpoint &through = by.roll.chance(50) ? in.me.world : in.own[0];
    by.doing(may_return ? "fork" : one.name);
    const auto how = fult::testing::run_in_child([&] {
        if (may_return) // with its copy of a request that is under way
            return;
        one.call(through, open, to);
    });
    if (!how)
        return;
    if (may_return)
        return in.expect(how->was_silent(), "a child that calls nothing has status " +
                                                std::to_string(how->status) + ": " + how->said);
    in.expect(how->was_refused(), std::string(one.name) + " in the child of a fork: status " +
                                      std::to_string(how->status) + ": " + how->said);
}

// Receives from the rank before while the children come and go, and sends to the next one.
void fork_in_a_ring(actor &by, int rounds) {
    scene &in = by.in;
    const int next = (in.me.rank + 1) % in.me.size, before = (in.me.rank + in.me.size - 1) % in.me.size;
    const std::uint32_t tag = in.tag(1);
    for (int i = 0; i < rounds; ++i) {
        std::uint64_t got = 0;
        request open;
        by.attempt(before, "irecv", [&] { open = in.own[0].irecv(&got, sizeof got, before, tag); });
        // The children of a rank that is killed would remain.
        if (open.valid() && in.victim != in.me.rank && by.roll.chance(60))
            try_in_a_child(by, open, next);
        const auto word = [&](int rank) { return seed_of(in.seed, rank, i); };
        by.attempt(next, "send", [&] { in.own[0].send(word(in.me.rank), next, tag); });
        if (open.valid() && by.attempt(before, "wait", [&] { open.wait(); }))
            in.expect(got == word(before), "a message to a rank that forks is another one");
        by.dawdle();
    }
}

void begin_forks(scene &in) {
    if (fult::testing::sanitized ||
        fult::testing::under_valgrind()) // their own threads do not survive a fork
        return;
    dice d = in.shared(0);
    in.all->add(in, "forks", [rounds = d.between(1, 6)](actor &by) { fork_in_a_ring(by, rounds); });
}

constexpr act_kind forks_kinds[] = {
    {"forks", 1, nullptr, begin_forks, nullptr},
};

} // namespace

std::span<const act_kind> fork_acts() { return forks_kinds; }

} // namespace fult::comm::testing
