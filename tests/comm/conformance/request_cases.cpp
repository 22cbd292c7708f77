// Calls that do not wait: isend and irecv with all operations on requests, cancelling, probing.
#include <algorithm>

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {
namespace {

constexpr std::uint32_t window = 64;

std::size_t size_of(std::uint32_t i) { return i % 7 == 0 ? 30'000 : i % 3 == 0 ? 5000 : i * 4; }

struct exchange {
    std::vector<std::vector<std::byte>> out, in;
    std::vector<request> all; // receives first

    explicit exchange(party &p) {
        for (std::uint32_t i = 0; i < window; ++i) {
            in.emplace_back(size_of(i));
            all.push_back(p.world.irecv(in.back(), p.previous(), i));
        }
        for (std::uint32_t i = 0; i < window; ++i) {
            out.push_back(bytes_of(i + 100, size_of(window - 1 - i)));
            all.push_back(p.world.isend(out.back(), p.next(), window - 1 - i));
        }
    }
    void check() const {
        for (std::uint32_t i = 0; i < window; ++i)
            require(are_bytes_of(window - 1 - i + 100, in[i]), "bytes of " + std::to_string(i));
    }
};

void wait_for_all(party &p) {
    exchange x(p);
    wait_all(x.all);
    for (const request &each : x.all)
        require(!each.valid(), "empty after wait_all");
    x.check();
    wait_all(x.all); // of nothing
    wait_all({});
}

void wait_for_any(party &p) {
    exchange x(p);
    std::size_t seen = 0;
    for (std::size_t at; (at = wait_any(x.all)) != x.all.size(); ++seen) {
        require(at < x.all.size() && x.all[at].valid(), "the index of a request");
        const auto got = x.all[at].test();
        require(got.has_value(), "complete after wait_any");
        if (at < window)
            require_status(*got, p.previous(), static_cast<std::uint32_t>(at),
                           size_of(static_cast<std::uint32_t>(at)));
    }
    require_equal(seen, x.all.size(), "requests");
    x.check();
    require_equal(wait_any({}), std::size_t{0}, "of nothing");
}

// Requests of messages that left at once are complete as any others, wherever they are in the list.
void wait_for_any_that_left_at_once(party &p) {
    int never = 0;
    const int value = 5;
    int got[2] = {};
    std::vector<request> all, receives; // without these, a send that is only offered would never end
    for (int &each : got)
        receives.push_back(p.world.irecv(std::span(&each, 1), p.previous(), 2));
    all.push_back(p.world.irecv(std::span(&never, 1), p.previous(), 1));
    all.push_back(p.world.isend(std::span(&value, 1), p.next(), 2));
    all.push_back(p.world.isend(std::span(&value, 1), p.next(), 2));
    for (std::size_t left = 2; left > 0; --left) {
        const std::size_t which = comm::wait_any(all);
        require(which == 1 || which == 2, "one of the sends");
        require_status(all[which].wait(), p.next(), 2, sizeof value);
    }
    for (int i = 0; i < 2; ++i) {
        receives[static_cast<std::size_t>(i)].wait();
        require_equal(got[i], 5, "value");
    }
    require(all[0].cancel(), "nothing has met it");
    require_equal(comm::wait_any(all), std::size_t{0}, "the one that was taken back");
    require_error(errc::cancelled, [&] { all[0].wait(); });
    require_equal(comm::wait_any(all), all.size(), "none is left");
    p.barrier(); // a rank that leaves ends the receives that wait for it
}

// The same request may be there several times, as in a list of pointers that was put together from others.
void wait_for_any_of_one_given_twice(party &p) {
    int got[2] = {};
    request first = p.world.irecv(std::span(&got[0], 1), p.previous(), 1);
    request second = p.world.irecv(std::span(&got[1], 1), p.previous(), 2);
    std::vector<request *> all{&first, &first, nullptr, &second, &second};
    p.barrier(); // nothing has been sent before
    handle<void> sender = spawn([&p] {
        const int value = 6;
        this_task::yield();
        p.world.send(value, p.next(), 2);
    });
    const std::size_t which = comm::wait_any(all);
    require(which == 3 || which == 4, "the one that came");
    require(second.is_complete() && !first.is_complete(), "the index names one that is complete");
    p.barrier(); // the other ranks have seen it, too
    p.world.send(7, p.next(), 1);
    sender.join();
    comm::detail::await_all_of(all);
    require(first.is_complete() && second.is_complete(), "all are complete");
    comm::wait_all(all);
    require_equal(got[0], 7, "the first");
    require_equal(got[1], 6, "the second");
}

void test_until_complete(party &p) {
    exchange x(p);
    std::size_t left = x.all.size();
    while (left != 0) {
        for (request &each : x.all)
            if (each.valid() && each.test())
                --left;
        this_task::yield();
    }
    x.check();
    require(!request().test(), "of nothing");
}

void wait_one_by_one(party &p) {
    exchange x(p);
    std::reverse(x.all.begin(), x.all.end());
    for (request &each : x.all)
        each.wait();
    x.check();
}

void cancel(party &p) {
    outbox out(p.world);
    int never = 0, value = 0;
    request r = p.world.irecv(std::span(&never, 1), p.previous(), 1);
    require(r.cancel(), "nothing has met it");
    require(!r.cancel(), "only once");
    require_error(errc::cancelled, [&] { r.wait(); });
    require(!r.valid(), "empty");
    p.barrier();
    out.send(5, p.next(), 1);
    p.world.recv(value, p.previous(), 1); // goes past the one that was taken back
    require(value == 5 && never == 0, "the message goes to the other receive");

    r = p.world.irecv(std::span(&never, 1), p.previous(), 1);
    out.send(6, p.next(), 1);
    out.send(0, p.next(), 2);
    p.world.recv<int>(p.previous(), 2); // came behind the other one
    require(!r.cancel(), "its message has come");
    r.wait();
    require_equal(never, 6, "value");

    // Each of many is either received or taken back.
    std::vector<int> into(200, -1);
    std::vector<request> many;
    for (int &each : into)
        many.push_back(p.world.irecv(std::span(&each, 1), p.previous(), 3));
    handle<void> sender = spawn([&] {
        for (int i = 0; i < 200; ++i)
            p.world.send(i, p.next(), 3);
    });
    int taken_back = 0;
    for (std::size_t i = many.size(); i-- > 0;)
        taken_back += many[i].cancel() ? 1 : 0;
    int expected = 0;
    for (std::size_t i = 0; i < many.size(); ++i)
        try {
            many[i].wait();
            require_equal(into[i], expected++, "in order");
        } catch (const error &e) {
            require(e.code() == errc::cancelled, e.what());
            --taken_back;
        }
    require_equal(taken_back, 0, "cancelled ones");
    for (; expected < 200; ++expected)
        require_equal(p.world.recv<int>(p.previous(), 3), expected, "those that met no receive");
    sender.join();
}

void probing(party &p) {
    require(!p.world.try_probe(p.previous(), 77), "nothing there");
    std::uint32_t tag = 78;
    for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{100'000}}) {
        ++tag;
        handle<void> sender = spawn([&p, size, tag] { p.world.send(bytes_of(size, size), p.next(), tag); });
        const status found = p.world.probe(p.previous(), tag);
        require_status(found, p.previous(), tag, size);
        require(p.world.try_probe(p.previous(), tag).has_value(), "still there");
        std::vector<std::byte> in(found.size);
        require_status(p.world.recv(in, p.previous(), tag), p.previous(), tag, size);
        require(are_bytes_of(size, in), "bytes");
        require(!p.world.try_probe(p.previous(), tag), "taken");
        sender.join();
    }
}

constexpr conformance_case all_request_cases[] = {
    {"wait_for_all", wait_for_all},
    {"wait_for_any", wait_for_any},
    {"wait_for_any_that_left_at_once", wait_for_any_that_left_at_once},
    {"wait_for_any_of_one_given_twice", wait_for_any_of_one_given_twice},
    {"test_until_complete", test_until_complete},
    {"wait_one_by_one", wait_one_by_one},
    {"cancel", cancel},
    {"probing", probing},
};

} // namespace

std::span<const conformance_case> request_cases() { return all_request_cases; }

} // namespace fult::comm::testing
