#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "comm/requests/request_memory.hpp"

namespace {
using fult::comm::detail::give_request_memory;
using fult::comm::detail::request_bytes;
using fult::comm::detail::take_request_memory;

TEST(request_memory, pieces_are_apart_and_aligned) {
    std::set<std::uintptr_t> at;
    for (unsigned i = 0; i < 1000; ++i) {
        void *const piece = take_request_memory();
        std::memset(piece, 0xa5, request_bytes);
        at.insert(reinterpret_cast<std::uintptr_t>(piece));
    }
    ASSERT_EQ(at.size(), 1000u);
    std::uintptr_t end = 0;
    for (const std::uintptr_t each : at) {
        EXPECT_EQ(each % 64, 0u);
        EXPECT_GE(each, end);
        end = each + request_bytes;
        give_request_memory(reinterpret_cast<void *>(each)); // NOLINT(performance-no-int-to-ptr)
    }
}

// Returned requests are reused, however many there were: additional memory is at most the rest of a slab.
TEST(request_memory, is_used_again) {
    constexpr std::size_t at_once = 5000, slabs_rest = 1000;
    std::vector<void *> pieces(at_once);
    std::set<void *> all;
    for (unsigned round = 0; round < 5; ++round) {
        for (void *&each : pieces)
            all.insert(each = take_request_memory());
        for (void *each : pieces)
            give_request_memory(each);
    }
    EXPECT_GE(all.size(), at_once);
    EXPECT_LE(all.size(), at_once + slabs_rest);
}

// Each request has one owner at a time, whichever thread takes and returns it. Threads that end, also one
// that has taken none, leave their requests to the others.
TEST(request_memory, goes_from_thread_to_thread) {
    constexpr unsigned threads = 4, rounds = 20, places = 600;
    std::vector<std::atomic<void *>> shared(places);
    std::atomic<unsigned> spoiled{0};
    const auto check_and_give = [&](void *piece) {
        std::uint64_t ends[2];
        std::memcpy(&ends[0], piece, sizeof ends[0]);
        std::memcpy(&ends[1], static_cast<std::byte *>(piece) + request_bytes - sizeof ends[1],
                    sizeof ends[1]);
        spoiled += ends[0] != ends[1] || ends[0] != reinterpret_cast<std::uintptr_t>(piece);
        give_request_memory(piece);
    };
    for (unsigned round = 0; round < rounds; ++round) {
        std::vector<std::thread> running;
        for (unsigned t = 0; t < threads; ++t)
            running.emplace_back([&, seed = round * threads + t] {
                std::minstd_rand random(seed + 1);
                for (unsigned i = 0; i < 2000; ++i) {
                    void *const piece = take_request_memory();
                    const auto name = reinterpret_cast<std::uintptr_t>(piece);
                    std::memcpy(piece, &name, sizeof name);
                    std::memcpy(static_cast<std::byte *>(piece) + request_bytes - sizeof name, &name,
                                sizeof name);
                    if (void *const other = shared[random() % places].exchange(piece))
                        check_and_give(other);
                }
            });
        for (std::thread &each : running)
            each.join();
        std::thread([&] {
            for (unsigned i = round % 2; i < places; i += 2)
                if (void *const left = shared[i].exchange(nullptr))
                    check_and_give(left);
        }).join();
    }
    for (std::atomic<void *> &each : shared)
        if (void *const left = each.exchange(nullptr))
            check_and_give(left);
    EXPECT_EQ(spoiled, 0u);
}
} // namespace
