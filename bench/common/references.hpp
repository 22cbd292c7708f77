// The references for operations of one thread. Each returns nanoseconds; each takes a few
// milliseconds.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include <boost/context/detail/fcontext.hpp>

#include "common/clock.hpp"

namespace bench {

template <class Step> double nanoseconds_each(unsigned long count, Step step) {
    return timed([&] {
               for (unsigned long i = 0; i < count; ++i)
                   step();
           }) *
           1e9 / double(count);
}

[[gnu::noinline]] inline unsigned long empty_function(unsigned long argument) {
    keep(argument);
    return argument;
}

inline double plain_call_ns() {
    unsigned long argument = 0;
    return nanoseconds_each(4'000'000, [&] { argument = empty_function(argument); });
}

inline double fetch_or_ns() {
    alignas(128) std::atomic<unsigned long> word{0};
    return nanoseconds_each(1'000'000, [&] {
        word.fetch_or(4, std::memory_order_acq_rel);
        keep(word);
    });
}

// A jump to another stack and back, as Boost.Context does it.
inline double context_round_trip_ns() {
    using namespace boost::context::detail;
    constexpr std::size_t size = 16 * 1024;
    const auto stack = std::make_unique<std::byte[]>(size);
    auto answer = [](transfer_t from) {
        for (;;)
            from = jump_fcontext(from.fctx, nullptr);
    };
    transfer_t there{make_fcontext(stack.get() + size, size, answer), nullptr};
    return nanoseconds_each(500'000, [&] { there = jump_fcontext(there.fctx, nullptr); });
}

} // namespace bench
