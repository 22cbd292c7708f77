#include "tests/comm/conformance/departure.hpp"

#include <atomic>

namespace fult::comm::testing {
namespace {

constexpr std::uint32_t early = 1, early_long = 2, never = 3;
constexpr std::size_t large = 200'000;

// The call ends with peer_left, and its text contains all of `words`.
template <class F> void expect_left(std::vector<std::string> words, F call) {
    try {
        call();
    } catch (const error &e) {
        require(e.code() == errc::peer_left, e.what());
        for (const std::string &each : words)
            require(std::string(e.what()).find(each) != std::string::npos,
                    std::string(e.what()) + " does not say '" + each + "'");
        return;
    }
    require(false, "no error from " + words.front());
}

// Half of the calls begin before this rank knows that the other one has left, half afterwards.
struct expectations {
    party &p;
    int last = p.size - 1;
    std::string rank = "rank " + std::to_string(last);
    endpoint &silent; // no rank sends anything there
    const remote_region &there;
    bool is_contexts_own;
    std::vector<std::byte> in = std::vector<std::byte>(large), out = std::vector<std::byte>(large);

    const std::string left = rank + " has left the job in good order", world = where_world_is();

    std::string where_world_is() const { return is_contexts_own ? "endpoint 0 (world)" : "endpoint "; }
    std::vector<std::function<void()>> calls() {
        std::vector<std::function<void()>> all = receives();
        if (is_contexts_own)
            for (auto &each : sends())
                all.push_back(std::move(each));
        return all;
    }
    std::vector<std::function<void()>> receives() {
        return {
            [=, this] {
                int one = 0;
                expect_left({"recv: ", "a message from " + rank, "tag 3", world, left},
                            [&] { p.world.recv(one, last, never); });
            },
            [=, this] {
                int one = 0;
                expect_left({"wait: ", "any tag, endpoint ", left},
                            [&] { silent.irecv(std::span(&one, 1), last, any_tag).wait(); });
            },
            [=, this] {
                expect_left({"probe: ", "tag 3", left}, [&] { p.world.probe(last, never); });
            },
        };
    }
    std::vector<std::function<void()>> sends() {
        return {
            [=, this] {
                expect_left({"send: ", rank + " to take its message of 200000 bytes", "tag 3", left},
                            [&] { p.world.send(out, last, never); });
            },
            [=, this] {
                expect_left({"wait: ", left}, [&] { p.world.isend(out, last, never).wait(); });
            },
            [=, this] {
                char byte = 0;
                expect_left({"sendrecv: ", left},
                            [&] { p.world.sendrecv(&byte, 1, last, never, &byte, 1, last, never); });
            },
        };
    }
};

void begin_all(std::vector<handle<void>> &tasks, std::atomic<int> &begun,
               std::vector<std::function<void()>> calls) {
    for (auto &each : calls)
        tasks.push_back(spawn([&begun, call = std::move(each)] {
            ++begun;
            call();
        }));
}

// Messages from before the departure are received, in any order.
void receive_what_came(party &p, endpoint &open, int last) {
    std::vector<std::byte> in(large);
    require_equal(p.world.recv(in, last, early_long).size, in.size(), "a long message that came before");
    require(are_bytes_of(7, in), "its bytes");
    require_equal(p.world.recv<int>(last, early), 5, "a message that came before");
    require_equal(open.recv<int>(last, any_tag), 6, "one for any tag");
}

} // namespace

void the_last_rank_leaves(party &p, bool is_contexts_own) {
    const int last = p.size - 1;
    endpoint open = p.make_endpoint({.wildcards = true}), silent = p.make_endpoint({.wildcards = true});
    std::vector<std::byte> memory(64);
    region own(p.world, memory);
    std::vector<remote_region> regions(static_cast<std::size_t>(p.size));
    allgather(p.world, own.remote(), regions);
    p.barrier();
    if (p.rank == last) {
        for (int to = 0; to < last; ++to) {
            p.world.recv<int>(to, never + 1); // then some wait
            p.world.send(5, to, early);
            require(p.world.enqueue(bytes_of(7, large).data(), large, to, early_long), "no room for a copy");
            open.send(6, to, early);
        }
        return;
    }
    expectations expected{
        .p = p, .silent = silent, .there = regions.back(), .is_contexts_own = is_contexts_own};
    std::vector<handle<void>> tasks;
    std::atomic<int> begun{0};
    begin_all(tasks, begun, expected.calls());
    while (begun != static_cast<int>(tasks.size()))
        this_task::yield();
    p.world.send(1, last, never + 1);
    expect_left({"probe: "}, [&] { p.world.probe(last, never); }); // by then it has left
    receive_what_came(p, open, last);
    join_all(tasks);
    for (auto &each : expected.calls())
        each();
    expect_left({"enqueue: ", "tag 3"},
                [&] { (void)p.world.enqueue(expected.out.data(), large, last, never); });
    expect_left({"put: "}, [&] { put(p.world, memory, expected.there); });
    expect_left({"wait: "}, [&] { iget(p.world, memory, expected.there).wait(); });
    int one = 0;
    request unmet = p.world.irecv(std::span(&one, 1), last, never);
    require(unmet.cancel(), "no message has met it");
    require_error(errc::cancelled, [&] { unmet.wait(); });
    if (p.size == 2) {
        expect_left({"recv: ", "any rank", "every other rank has left"},
                    [&] { silent.recv(one, any_source, 1); });
        expect_left({"barrier: ", "the collectives of " + expected.world}, [&] { barrier(p.world); });
        expect_left({"barrier: ", "an earlier collective"}, [&] { barrier(p.world); });
        expect_left({"barrier: "}, [&] { p.barrier(); });
        return;
    }
    // The others continue with each other.
    const int to = (p.rank + 1) % last, from = (p.rank + last - 1) % last;
    request sent = p.world.isend(expected.out, to, 9);
    require_equal(p.world.recv(expected.in, from, 9).size, large, "size");
    sent.wait();
}

} // namespace fult::comm::testing
