// One access of the match table, nanoseconds, beside oneTBB's concurrent_hash_map, where an access is an
// insert and, if the key was there, an erase. Both begin with 65,536 buckets. Cases: each thread inserts 256
// or 16,384 keys of its own and takes them out again; and pairs of threads access the same keys in the same
// order, whichever is first.
#include "comm/match/match_table.hpp"

#include <cstdint>
#include <memory>
#include <oneapi/tbb/concurrent_hash_map.h>

#include "comm/structures/structures.hpp"

namespace {
using namespace bench;
using fult::comm::detail::match_item;
using fult::comm::detail::match_key;
using fult::comm::detail::match_kind;
using fult::comm::detail::match_table;

constexpr std::size_t buckets = 1 << 16;
constexpr unsigned long pair_keys = 1 << 16;

struct alignas(64) item : match_item {};

struct ours {
    match_table table{buckets};
    bool access(std::uint64_t key, item &own, match_kind kind) {
        return table.access(key, own, kind) != nullptr;
    }
};

struct theirs {
    using map = oneapi::tbb::concurrent_hash_map<std::uint64_t, item *>;
    map table{buckets};
    bool access(std::uint64_t key, item &own, match_kind) {
        map::accessor at;
        if (table.insert(at, key)) {
            at->second = &own;
            return false;
        }
        keep(at->second->key);
        table.erase(at);
        return true;
    }
};

// Inserts and takes out again `keys` of the thread's own.
template <class Table> std::string by_itself(unsigned threads, unsigned long keys, double &ns) {
    Table table;
    std::atomic<unsigned long> wrong{0};
    std::vector<std::unique_ptr<item[]>> items;
    for (unsigned t = 0; t < threads; ++t)
        items.push_back(std::make_unique<item[]>(keys));
    const auto body = [&](unsigned thread, unsigned long operations) {
        item *const mine = items[thread].get();
        item message;
        unsigned long bad = 0;
        for (unsigned long done = 0; done < operations; done += 2 * keys) {
            for (unsigned long i = 0; i < keys; ++i)
                bad += table.access(match_key(0, thread, static_cast<std::uint32_t>(i)), mine[i],
                                    match_kind::receive);
            for (unsigned long i = 0; i < keys; ++i)
                bad += !table.access(match_key(0, thread, static_cast<std::uint32_t>(i)), message,
                                     match_kind::message);
        }
        wrong += bad;
    };
    const unsigned long operations = 2 * keys * std::max(4ul, 400'000 / threads / keys);
    ns_an_operation(threads, 2 * keys, body); // warm
    ns = ns_an_operation(threads, operations, body);
    return wrong == 0 ? "" : std::to_string(wrong) + " accesses met what they must not";
}

// Two threads each access the same keys, one for receives and one for messages.
template <class Table> std::string in_pairs(unsigned threads, double &ns) {
    Table table;
    std::atomic<unsigned long> met{0};
    std::vector<std::unique_ptr<item[]>> items;
    for (unsigned t = 0; t < threads; ++t)
        items.push_back(std::make_unique<item[]>(pair_keys));
    ns = ns_an_operation(threads, pair_keys, [&](unsigned thread, unsigned long operations) {
        unsigned long mine = 0;
        const match_kind kind = thread % 2 ? match_kind::message : match_kind::receive;
        for (unsigned long i = 0; i < operations; ++i)
            mine +=
                table.access(match_key(0, thread / 2, static_cast<std::uint32_t>(i)), items[thread][i], kind);
        met += mine;
    });
    return met == pair_keys * (threads / 2) ? "" : std::to_string(met) + " pairs met";
}

std::string one_round() {
    const auto line = [](const std::string &name, unsigned threads, double value, double reference) {
        report({"match_table", name + ", " + threads_text(threads), "fult", threads, value, "ns"},
               "oneTBB concurrent_hash_map", reference);
    };
    double a, b;
    std::string wrong;
    for (const unsigned threads : structure_threads) {
        for (const unsigned long keys : {256ul, 16'384ul}) {
            wrong += by_itself<ours>(threads, keys, a);
            wrong += by_itself<theirs>(threads, keys, b);
            line(std::to_string(keys) + " keys a thread", threads, a, b);
        }
        if (threads >= 2) {
            wrong += in_pairs<ours>(threads, a);
            wrong += in_pairs<theirs>(threads, b);
            line("pairs", threads, a, b);
        }
    }
    return wrong;
}
} // namespace

int main(int argc, char **argv) {
    kernel_settings settings;
    arguments line("match_table: an access of the match table by 1 to 8 threads, nanoseconds.");
    line.option("--rounds", settings.rounds, "number of measurements; each writes a record");
    line.parse(argc, argv);
    return run_micro("match_table", structures_version, settings, one_round);
}
