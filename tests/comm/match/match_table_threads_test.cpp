// The match table with several threads: small histories must be linearizable to those of a sequential table;
// in large ones the items of each key must pair one to one and in order.
#include <array>
#include <atomic>
#include <barrier>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <sched.h>
#include <thread>
#include <vector>

#include "comm/match/match_table.hpp"
#include "tests/comm/match/count_items.hpp"
#include "tests/support/long.hpp"
#include "tests/support/scale.hpp"
#include "tests/sync/history.hpp"

namespace {

using namespace fult::comm::detail;
using kind = match_table::kind;
using fult::testing::history;
using fult::testing::recorder;
using fult::testing::rounds;
using fult::testing::scaled;

template <class Body> void on_threads(unsigned n, Body body) {
    std::barrier start(n);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < n; ++i)
        threads.emplace_back([&, i] {
            start.arrive_and_wait();
            body(i);
        });
    for (auto &each : threads)
        each.join();
}

void delay(std::mt19937 &random) {
    const unsigned what = random() % 8;
    if (what == 0)
        ::sched_yield();
    for (unsigned i = what * 4; i != 0; --i)
        fult::detail::cpu_relax();
}

// Three keys, each with a queue of items of one kind. Items are numbered from 1, 0 is none.
struct table_object {
    enum what_it_does { access, remove, look };
    struct operation {
        what_it_does what;
        unsigned key, item;
        kind k;
        unsigned result = 0; // access: the item that it met; remove: 1, it was there; look: the oldest
        friend std::ostream &operator<<(std::ostream &out, const operation &o) {
            static constexpr const char *names[] = {"access", "remove", "look"};
            return out << names[o.what] << (o.k == kind::receive ? " receive " : " message ") << o.item
                       << " key " << o.key << " -> " << o.result;
        }
    };
    struct one {
        kind k;
        unsigned item;
        auto operator<=>(const one &) const = default;
    };
    using state = std::array<std::vector<one>, 3>;

    bool may_end(const state &) const { return true; }
    bool apply(state &s, const operation &o) const {
        auto &queue = s[o.key];
        switch (o.what) {
        case access:
            if (!queue.empty() && queue.front().k != o.k) {
                if (o.result != queue.front().item)
                    return false;
                queue.erase(queue.begin());
                return true;
            }
            queue.push_back({o.k, o.item});
            return o.result == 0;
        case remove:
            return std::erase_if(queue, [&](const one &i) { return i.item == o.item; }) == o.result;
        case look:
            return o.result == (!queue.empty() && queue.front().k == o.k ? queue.front().item : 0);
        }
        return false;
    }
};

TEST(match_table_threads, the_search_says_no) {
    using t = table_object;
    history<t::operation> all = {{0, {t::access, 0, 1, kind::receive, 0}, 0, 1},
                                 {0, {t::access, 0, 2, kind::receive, 0}, 2, 3},
                                 {1, {t::access, 0, 3, kind::message, 2}, 4, 5}};
    EXPECT_FALSE(fult::testing::linearizable(t(), all)) << "the younger one was taken";
    all[2].operation.result = 1;
    EXPECT_TRUE(fult::testing::linearizable(t(), all));
    all.push_back({1, {t::remove, 0, 1, kind::receive, 1}, 6, 7});
    EXPECT_FALSE(fult::testing::linearizable(t(), all)) << "it was matched before";
}

TEST(match_table_threads, small_histories_are_linearizable) {
    using t = table_object;
    constexpr unsigned threads = 4, each_does = 5;
    struct numbered : match_item {
        unsigned number = 0;
    };
    // these three are in one bucket of eight, and move apart when it is split
    std::array<std::uint64_t, 3> keys{};
    // Threads overlap as the machine has it: those of one processor only where one is preempted, or yields.
    for (std::size_t round = 0; round < scaled(rounds(300, 2000)) + 20; ++round) {
        match_table table(8, 8u << round % 4);
        std::mt19937 seeds(static_cast<unsigned>(round));
        for (auto &key : keys)
            key = match_key(0, 0, seeds());
        std::vector<numbered> filling(seeds() % 40), items(threads * each_does);
        for (auto &each : filling)
            table.access(match_key(9, 9, seeds()), each, kind::receive);
        recorder<t::operation> records(threads, each_does);
        on_threads(threads, [&](unsigned thread) {
            std::mt19937 random(static_cast<unsigned>(round * threads + thread));
            std::vector<std::pair<unsigned, unsigned>> mine; // item, key
            for (unsigned i = 0; i < each_does; ++i) {
                delay(random);
                const unsigned key = random() % 3, number = thread * each_does + i + 1;
                const kind k = random() % 2 ? kind::receive : kind::message;
                const unsigned choice = random() % 8;
                if (choice == 0) {
                    records.record(thread, {t::look, key, 0, k}, [&](t::operation &o) {
                        table.peek(keys[key], k,
                                   [&](match_item &m) { o.result = static_cast<numbered &>(m).number; });
                    });
                } else if (choice == 1 && !mine.empty()) {
                    const unsigned item = mine.back().first, its = mine.back().second;
                    mine.pop_back();
                    records.record(thread, {t::remove, its, item, k},
                                   [&](t::operation &o) { o.result = table.remove(items[item - 1]); });
                } else {
                    items[number - 1].number = number;
                    records.record(thread, {t::access, key, number, k}, [&](t::operation &o) {
                        const match_item *met = table.access(keys[key], items[number - 1], k);
                        o.result = met ? static_cast<const numbered *>(met)->number : 0;
                    });
                    mine.emplace_back(number, key);
                }
            }
        });
        const auto all = records.collected();
        ASSERT_TRUE(fult::testing::linearizable(t(), all)) << all;
    }
}

// Many threads, few keys at a time, an initially small table. Each thread posts receives and delivers
// messages with random keys, and cancels some of its own.
TEST(match_table_threads, each_key_pairs_one_to_one_and_in_order) {
    constexpr unsigned threads = 8;
    const unsigned each_does = static_cast<unsigned>(scaled(100'000) + 2'000);
    struct traced : match_item {
        unsigned thread = 0, number = 0; // of the thread's items, in the order of its calls
        bool removed = false;
        std::atomic<traced *> partner{nullptr}; // of a receive, and set by whichever thread paired them
        std::atomic<unsigned> matched{0};
    };
    for (const unsigned keys : {1u, 7u, 5000u}) {
        match_table table(8);
        std::vector<std::unique_ptr<traced[]>> items;
        for (unsigned i = 0; i < threads; ++i)
            items.push_back(std::make_unique<traced[]>(each_does));
        std::atomic<unsigned> working{threads};
        on_threads(threads + 1, [&](unsigned thread) {
            if (thread == threads) { // one that visits all meanwhile, and takes nothing
                while (working.load(std::memory_order_relaxed) != 0) {
                    const match_item *none =
                        table.remove_if(kind::receive, [](match_item &) { return false; });
                    EXPECT_EQ(none, nullptr);
                    table.peek(match_key(0, 0, 3), kind::message, [](match_item &) {});
                    ::sched_yield();
                }
                return;
            }
            std::mt19937 random(thread);
            for (unsigned i = 0; i < each_does; ++i) {
                traced &own = items[thread][i];
                own.thread = thread;
                own.number = i;
                const kind k = random() % 2 ? kind::receive : kind::message;
                const std::uint64_t key = match_key(0, 0, random() % keys);
                table.prefetch_item(key);
                if (match_item *const met = table.access(key, own, k)) {
                    own.key = key;
                    own.kind = k;
                    auto &other = static_cast<traced &>(*met);
                    EXPECT_EQ(other.key, key);
                    EXPECT_NE(other.kind, k);
                    EXPECT_EQ(own.matched.fetch_add(1) + other.matched.fetch_add(1), 0u) << "matched twice";
                    traced &receive = k == kind::receive ? own : other;
                    receive.partner = &receive == &own ? &other : &own;
                }
                if (random() % 8 == 0) {
                    traced &earlier = items[thread][i - random() % std::min(i + 1, 50u)];
                    if (!earlier.removed && table.remove(earlier))
                        earlier.removed = true;
                }
            }
            working.fetch_sub(1);
        });
        // of a receiving and a sending thread, by key
        std::vector<unsigned> last(std::size_t{threads} * threads * keys, 0);
        std::size_t pairs = 0, removed = 0;
        for (unsigned r = 0; r < threads; ++r)
            for (unsigned i = 0; i < each_does; ++i) {
                traced &receive = items[r][i];
                removed += receive.removed;
                ASSERT_LE(receive.matched.load(), 1u);
                ASSERT_EQ(receive.matched.load() + receive.removed + receive.queued, 1u);
                traced *const message = receive.partner;
                if (!message)
                    continue;
                ++pairs;
                ASSERT_EQ(message->key, receive.key);
                unsigned &before =
                    last[(std::size_t{r} * threads + message->thread) * keys + (receive.key & 0xffffffff)];
                ASSERT_LE(before, message->number + 1) << "overtaken";
                before = message->number + 1;
            }
        EXPECT_GT(pairs, 0u);
        EXPECT_EQ(2 * pairs + removed + count_items(table, kind::receive) + count_items(table, kind::message),
                  std::size_t{threads} * each_does);
    }
}

// An item that is removed by its owner and matched by another thread at once: exactly one of them has it, and
// the owner may free it then.
TEST(match_table_threads, an_item_is_matched_or_removed) {
    match_table table(8, 64);
    const unsigned all = static_cast<unsigned>(scaled(rounds(10'000, 200'000)) + 2'000);
    std::atomic<unsigned> expected{0}, taken{0};
    on_threads(3, [&](unsigned thread) {
        std::mt19937 random(thread);
        if (thread == 0) { // a message may find the receive, or is taken back
            while (expected.load(std::memory_order_relaxed) != all) {
                match_item message;
                if (match_item *const met = table.access(random() % 4, message, kind::message)) {
                    taken.fetch_add(1, std::memory_order_relaxed);
                    // The owner spins on this and then frees it: the last access.
                    std::atomic_ref<match_item *>(met->chain).store(met, std::memory_order_release);
                } else if (!table.remove(message)) {
                    while (!std::atomic_ref<match_item *>(message.chain).load(std::memory_order_acquire))
                        ::sched_yield();
                } else {
                    ::sched_yield(); // the receives of the others come no sooner
                }
            }
            return;
        }
        for (unsigned i = 0; i < all / 2; ++i) {
            auto receive = std::make_unique<match_item>();
            if (match_item *const met = table.access(random() % 4, *receive, kind::receive)) {
                std::atomic_ref<match_item *>(met->chain).store(met, std::memory_order_release);
            } else {
                delay(random);
                if (!table.remove(*receive))
                    while (!std::atomic_ref<match_item *>(receive->chain).load(std::memory_order_acquire))
                        ::sched_yield();
            }
            expected.fetch_add(1, std::memory_order_relaxed);
        }
    });
    EXPECT_EQ(count_items(table, kind::receive), 0u);
    EXPECT_EQ(count_items(table, kind::message), 0u);
}

} // namespace
