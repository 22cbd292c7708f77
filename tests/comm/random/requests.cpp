#include "tests/comm/random/requests.hpp"

#include <optional>

namespace fult::comm::testing {
namespace {

using report = std::function<void(std::size_t, const outcome &)>;

// The status or the error of a call; empty if there is neither yet.
template <class F> std::optional<outcome> outcome_of(F call) {
    try {
        std::optional<status> got = call();
        if (!got)
            return std::nullopt;
        return outcome{true, *got, errc::none};
    } catch (const error &e) {
        return outcome{true, {}, fult::comm::detail::code_of(e)};
    }
}

void each_by_wait(actor &by, std::vector<request> &all, const report &ended) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        by.doing("request::wait");
        ended(i, *outcome_of([&] { return std::optional(all[i].wait()); }));
        by.in.expect(!all[i].valid(), "a request is not empty after wait");
    }
}

void each_by_test(actor &by, std::vector<request> &all, const report &ended) {
    std::size_t left = all.size();
    by.doing("request::test");
    while (left > 0) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!all[i].valid())
                continue;
            if (const auto got = outcome_of([&] { return all[i].test(); })) {
                by.in.expect(!all[i].valid(), "a request is not empty after test");
                ended(i, *got);
                --left;
                by.doing("request::test");
            }
        }
        by.pause();
    }
}

void one_after_the_other(actor &by, std::vector<request> &all, const report &ended) {
    for (std::size_t left = all.size(); left > 0; --left) {
        by.doing("wait_any");
        const std::size_t which = comm::wait_any(all);
        by.in.expect(which < all.size(), "wait_any: none is left, it says");
        const bool by_test = by.roll.chance(50);
        const auto got =
            outcome_of([&] { return by_test ? all[which].test() : std::optional(all[which].wait()); });
        by.in.expect(got.has_value(), "wait_any named a request that is not complete");
        by.in.expect(!all[which].valid(), "a request is not empty after it was looked at");
        ended(which, *got);
    }
    by.in.expect(comm::wait_any(all) == all.size(), "wait_any of empty requests");
}

void all_at_once(actor &by, std::vector<request> &all, const report &ended) {
    by.doing("wait_all");
    outcome every{false, {}, errc::none};
    try {
        comm::wait_all(all);
    } catch (const error &e) {
        every.failure = fult::comm::detail::code_of(e);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        by.in.expect(!all[i].valid(), "a request is not empty after wait_all");
        ended(i, every);
    }
}

} // namespace

void complete(actor &by, std::vector<request> &all, const report &ended) {
    constexpr void (*ways[])(actor &, std::vector<request> &,
                             const report &) = {each_by_wait, each_by_test, one_after_the_other, all_at_once};
    by.roll.one_of(ways)(by, all, ended);
    all.clear();
}

} // namespace fult::comm::testing
