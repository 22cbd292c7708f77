// Channels, full/empty words, promises: nothing is lost or doubled, and the order is kept.
#include <memory>
#include <numeric>

#include "acts.hpp"
#include "spawning.hpp"
#include "waits.hpp"

namespace random_programs::perform {
namespace {

// What is sent: its sender, and its number.
struct item {
    std::unique_ptr<std::uint64_t> value;
    static item of(unsigned sender, unsigned number) {
        return {std::make_unique<std::uint64_t>(std::uint64_t(sender) << 32 | number)};
    }
    unsigned sender() const { return static_cast<unsigned>(*value >> 32); }
    unsigned number() const { return static_cast<unsigned>(*value); }
};
using line = fult::channel<item>;

std::chrono::system_clock::time_point far_time(actor &a) {
    using std::chrono::system_clock;
    return a.in.how.extreme_times ? system_clock::time_point::max()
                                  // time: given, never reached
                                  : system_clock::now() + std::chrono::hours(1000);
}

// In some form; whether it was sent.
waited send(actor &a, line &to, item &what) {
    switch (a.random.below(8)) {
    case 0:
        return {to.try_send(std::move(what)), false};
    case 1:
        // time: either order is right
        return {to.try_send_for(std::move(what), std::chrono::microseconds(a.random.below(100))), false};
    case 2:
        // time: either order is right
        return {to.try_send_until(std::move(what), std::chrono::system_clock::now() +
                                                       // time: either order is right
                                                       std::chrono::microseconds(a.random.below(100))),
                false};
    case 3:
        return {to.try_send_until(std::move(what), far_time(a)), true};
    case 4:
        return {to.send(std::move(what), std::stop_token()), true};
    case 5:
        return {to.try_send_for(std::move(what), std::chrono::nanoseconds(0)), false};
    default:
        return {to.send(std::move(what)), true};
    }
}

struct received {
    std::optional<item> what;
    bool had_to; // empty only where the channel is closed and drained
};

received receive(actor &a, line &from) {
    const unsigned form = a.random.below(9);
    switch (form == 2 && !a.in.how.extreme_times ? 1 : form) {
    case 0:
        return {from.try_receive(), false};
    case 1:
        // time: either order is right
        return {from.try_receive_for(std::chrono::microseconds(a.random.below(100))), false};
    case 2:
        return {from.try_receive_until(std::chrono::steady_clock::time_point::min()), false};
    case 3:
        return {from.try_receive_until(far_time(a)), true};
    case 4:
        return {from.try_receive_for(std::chrono::hours(1000)), true}; // time: given, never reached
    case 5:
        return {from.receive(std::stop_token()), true};
    case 6: {
        std::stop_source stop;
        stop.request_stop();
        return {from.receive(stop.get_token()), false};
    }
    default:
        return {from.receive(), true};
    }
}

// Senders and receivers at one channel. What was accepted is received, once, each sender's in its order.
void trade(actor &a, bool closes_early) {
    line between(a.random.below(4));
    const unsigned senders = a.random.between(1, 3), each = a.random.between(1, 20);
    std::atomic<unsigned> accepted{0}, taken{0}, still_sending{0};
    actor_group sending(a, senders, [&](actor &self, unsigned number) {
        for (unsigned i = 0; i < each; ++i) {
            item what = item::of(number, i);
            waited w{false, false};
            while (!w.got && !w.had_to) {
                w = send(self, between, what);
                if (!w.got)
                    self.pause();
                check(w.got == (what.value == nullptr), "a value that was not sent is gone, or the reverse");
                if (!w.got && !w.had_to && between.closed())
                    break;
            }
            if (!w.got) {
                check(between.closed(), "an open channel refuses a value");
                break;
            }
            accepted.fetch_add(1);
        }
        if (still_sending.fetch_sub(1) == 1 && !closes_early)
            between.close();
    });
    still_sending.store(sending.size());
    actor_group receiving(a, a.random.between(1, 3), [&](actor &self, unsigned) {
        std::vector<unsigned> expected(senders, 0);
        for (;;) {
            received got = receive(self, between);
            if (got.what) {
                check(got.what->sender() < senders, "a channel delivers what was never sent");
                unsigned &next = expected[got.what->sender()];
                check(got.what->number() >= next, "a channel has changed the order");
                next = got.what->number() + 1;
                taken.fetch_add(1);
            } else if (got.had_to) {
                check(between.closed(), "a receive from an open channel is empty");
                return;
            } else {
                self.pause();
            }
        }
    });
    if (receiving.size() == 0 || sending.size() == 0)
        between.close();
    sending.open();
    receiving.open();
    if (closes_early) {
        for (unsigned i = a.random.below(5); i > 0; --i)
            a.pause();
        between.close();
    }
    sending.join();
    receiving.join();
    while (auto rest = between.receive())
        taken.fetch_add(1);
    check(accepted.load() == taken.load(), "a channel accepted %u and gave %u", accepted.load(),
          taken.load());
}

} // namespace

void channel(actor &a) { trade(a, false); }
void channel_closed_early(actor &a) { trade(a, true); }

// Each call on a closed channel returns at once, and those that wait when it is closed.
void closed_channel(actor &a) {
    fult::channel<int> line(a.random.below(2));
    actor_group waiting(a, a.random.between(1, 4), [&](actor &self, unsigned) {
        // time: given, never reached
        const auto far = std::chrono::steady_clock::now() + std::chrono::hours(1000);
        switch (self.random.below(4)) {
        case 0:
            return check(!line.try_receive_until(far), "a closed channel gives something");
        case 1:
            // time: given, never reached
            return check(!line.try_receive_for(std::chrono::hours(1000)), "a closed channel gives something");
        case 2:
            // time: given, never reached
            return check(!line.try_receive_until(std::chrono::system_clock::now() + std::chrono::hours(1000)),
                         "a closed channel gives something");
        default:
            return check(!line.receive(), "a closed channel gives something");
        }
    });
    waiting.open();
    if (a.random.one_in(2))
        a.pause();
    line.close();
    waiting.join();
    // time: given, never reached
    const auto far = std::chrono::system_clock::now() + std::chrono::hours(1000);
    // time: given, never reached
    check(!line.try_send_until(1, far) && !line.try_send_for(1, std::chrono::hours(1000)) && !line.send(1) &&
              !line.try_send(1),
          "a closed channel takes something");
    // time: given, never reached
    check(!line.try_receive_until(far) && !line.try_receive_for(std::chrono::hours(1000)) && !line.receive(),
          "a closed channel gives something");
}

// As many writes as reads; what is written is read once.
void full_empty(actor &a) {
    fult::full_empty<std::uint64_t> word;
    std::atomic<std::uint64_t> written{0}, read{0};
    const unsigned pairs = a.random.between(1, 3), each = a.random.between(1, 10);
    unsigned whole = 0; // members that have a partner
    actor_group all(a, 2 * pairs, [&](actor &self, unsigned number) {
        if (number >= whole)
            return;
        for (unsigned i = 0; i < each; ++i) {
            if (number % 2 == 0) {
                const std::uint64_t value = self.random.next();
                written.fetch_add(value);
                wait_until_it_has(
                    self, [&] { return word.writeEF(value), true; }, [&] { return word.try_writeEF(value); },
                    [&](auto d) { return word.try_writeEF_for(value, d); },
                    [&](auto t) { return word.try_writeEF_until(value, t); },
                    [&](const std::stop_token &stop) { return word.writeEF(value, stop); });
            } else {
                std::optional<std::uint64_t> got;
                if (self.random.one_in(4))
                    (void)word.try_readFF();
                wait_until_it_has(
                    self, [&] { return got = word.readFE(), true; },
                    [&] { return (got = word.try_readFE()).has_value(); },
                    [&](auto d) { return (got = word.try_readFE_for(d)).has_value(); },
                    [&](auto t) { return (got = word.try_readFE_until(t)).has_value(); },
                    [&](const std::stop_token &stop) { return (got = word.readFE(stop)).has_value(); });
                read.fetch_add(*got);
            }
        }
    });
    whole = all.size() / 2 * 2;
    all.join();
    check(!word.is_full() && written.load() == read.load(), "a full/empty word has lost a value");
    word.writeF(7);
    check(word.readFF() == 7 && word.readFE() == 7 && !word.try_readFE(), "a full/empty word is wrong");
    word.fill();
    check(word.is_full(), "a filled word is empty");
    word.purge();
    check(!word.is_full(), "a purged word is full");
}

void promise(actor &a) {
    const std::uint64_t value = a.random.next();
    const unsigned how = a.random.below(3);
    fult::promise<std::uint64_t> promised;
    auto future = promised.get_future();
    auto keeper = spawn_somehow(a, [value, how, p = std::move(promised)]() mutable {
        auto keep = std::move(p); // broken at this end, where nothing was set
        if (how == 0)
            keep.set_value(value);
        else if (how == 1)
            keep.set_exception(std::make_exception_ptr(ordered(value)));
    });
    wait_until_it_has(
        a, [&] { return future.wait(), true; }, [&] { return future.ready(); },
        [&](auto d) { return future.wait_for(d) == std::future_status::ready; },
        [&](auto t) { return future.wait_until(t) == std::future_status::ready; },
        [&](const std::stop_token &stop) { return future.wait(stop); });
    try {
        const std::uint64_t got = future.get();
        check(how == 0 && got == value, "a future has a wrong value");
    } catch (const ordered &error) {
        check(how == 1 && error.number == value, "a future has a wrong exception");
    } catch (const std::future_error &error) {
        check((how == 2 || !keeper.valid()) && error.code() == std::future_errc::broken_promise,
              "a future has a wrong error");
    }
    if (keeper.valid())
        keeper.join();
}

} // namespace random_programs::perform
