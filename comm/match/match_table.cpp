#include "comm/match/match_table.hpp"

#include <bit>
#include <new>
#include <stdexcept>

#include <fult/detail/assertion.hpp>

#include "comm/match/zeroed.hpp"

namespace fult::comm::detail {

namespace {

// States of a bucket. Fresh memory from the system is zero.
constexpr std::uint32_t unused_bucket = 0; // its keys are still in a bucket that has not been split
constexpr std::uint32_t leaf = 1;          // holds its keys
constexpr std::uint32_t busy_leaf = 2;     // the same, locked
constexpr std::uint32_t inner = 3;         // its keys have moved to its two successors, for good

// Eight consecutive tags map to eight consecutive buckets: otherwise four lines of two processors would hold
// one line's worth of keys. Within 65,536 tags these groups of eight follow each other by the golden ratio,
// which spreads every arithmetic sequence of them evenly; the bits above those 16 are mixed thoroughly. The
// upper bits choose the group of buckets, the lowest three the bucket in it: rotated by the hash, so that
// strides of eight and more do not meet in one of the eight.
constexpr std::uint64_t hash_of(std::uint64_t key) noexcept {
    std::uint64_t h = (key >> 16) * 0xd6e8feb86659fd93U;
    h ^= h >> 32;
    h = h * 0xff51afd7ed558ccdU + (key >> 3 & 0x1fff) * 0x9e3779b97f4a7c15U;
    return (h & ~std::uint64_t{7}) | ((key ^ h >> 29) & 7);
}
constexpr unsigned group_bits = 3;
static_assert((hash_of(0) & 7) != (hash_of(1) & 7), "consecutive tags have different buckets");
static_assert(unused_bucket == 0, "fresh memory is unused");

} // namespace

// Written under the lock of the bucket; only prefetch_item reads it without. So the members are atomic, and
// relaxed.
struct match_table::entry {
    std::atomic<std::uint64_t> key_;
    std::atomic<match_item *> item_; // the oldest; nullptr: a free entry

    std::uint64_t key() const noexcept { return key_.load(std::memory_order_relaxed); }
    match_item *item() const noexcept { return item_.load(std::memory_order_relaxed); }
    void set(match_item *oldest) noexcept { item_.store(oldest, std::memory_order_relaxed); }
    void set(std::uint64_t key, match_item *oldest) noexcept {
        key_.store(key, std::memory_order_relaxed);
        set(oldest);
    }
};

// Invariants, under the lock: the items of a key are one queue of one kind, in an entry or in the chain; the
// chain is empty unless all entries are in use. `prev` of the oldest item is the youngest, which has no next.
struct alignas(64) match_table::bucket {
    std::atomic<std::uint32_t> state;
    match_item *more; // oldest items of the keys without an entry
    entry entries[3];

    bool try_lock(std::uint32_t expected = leaf) noexcept {
        // acquire: pairs with unlock; a failure implies nothing
        return state.compare_exchange_strong(expected, busy_leaf, std::memory_order_acquire,
                                             std::memory_order_relaxed);
    }
    void unlock() noexcept {
        FULT_ASSERT(is_locked(), "only its holder releases a bucket");
        state.store(leaf, std::memory_order_release);
    }
    bool is_locked() const noexcept { return state.load(std::memory_order_relaxed) == busy_leaf; }

    // Position of a key's queue.
    struct place {
        match_item *oldest = nullptr; // nullptr: no such key
        entry *in = nullptr;          // the entry, or else the link in the chain:
        match_item **link = nullptr;
    };
    place find(std::uint64_t key) noexcept {
        for (entry &each : entries)
            if (each.key() == key)
                if (match_item *const oldest = each.item())
                    return {oldest, &each};
        for (match_item **at = &more; *at; at = &(*at)->chain)
            if ((*at)->key == key)
                return {*at, nullptr, at};
        return {};
    }
    // Adds the first item of a key. Returns true if it had to be chained.
    bool add(std::uint64_t key, match_item &oldest) noexcept {
        FULT_ASSERT(oldest.prev, "the oldest item of a key refers to the youngest");
        for (entry &each : entries)
            if (!each.item()) {
                each.set(key, &oldest);
                oldest.chain = nullptr;
                return false;
            }
        FULT_ASSERT(more != &oldest);
        oldest.chain = more;
        more = &oldest;
        return true;
    }
    // Removes the item from its key's queue. Returns true if that makes one chained key less.
    bool take(const place &at, match_item &item) noexcept {
        FULT_ASSERT(is_locked() && at.oldest && item.queued, "the item is in a queue of this bucket");
        FULT_ASSERT(item.kind == at.oldest->kind, "a queue holds one kind");
        item.queued = false;
        match_item *const next = item.next;
        if (&item != at.oldest) {
            item.prev->next = next;
            (next ? next : at.oldest)->prev = item.prev;
            return false;
        }
        if (next) {
            next->prev = item.prev;
            next->chain = item.chain;
            at.in ? at.in->set(next) : void(*at.link = next);
            return false;
        }
        if (!at.in) {
            *at.link = item.chain;
            return true;
        }
        match_item *const chained = more;
        if (!chained) {
            at.in->set(nullptr);
            return false;
        }
        at.in->set(chained->key, chained);
        more = chained->chain;
        chained->chain = nullptr;
        return true;
    }
};

struct match_table::level {
    bucket *buckets = nullptr;
    unsigned bits = 0; // log2 of the number of buckets

    bucket &at(std::uint64_t hash) const noexcept {
        const std::uint64_t group = hash >> 1 >> (63 - (bits - group_bits)); // 0 bits of it for eight buckets
        return buckets[group << group_bits | (hash & ((1U << group_bits) - 1))];
    }
    std::size_t size() const noexcept { return std::size_t{1} << bits; }
    bool map() noexcept {
        memory = zeroed_memory(size() * sizeof(bucket));
        buckets = memory.as<bucket>();
        return buckets != nullptr;
    }

  private:
    zeroed_memory memory;
};

match_table::match_table(std::size_t buckets, std::size_t most) : most_(most), grow_above_(buckets / 8) {
    if (!std::has_single_bit(buckets) || !std::has_single_bit(most) || buckets < 8 || buckets > most ||
        most > std::size_t{1} << (levels - 1))
        throw std::invalid_argument(
            "match_table: the numbers of buckets must be powers of two from 8 to 2^31, "
            "the most not below the first");
    static_assert(sizeof(bucket) == 64);
    levels_ = std::make_unique<level[]>(levels);
    for (unsigned bits = 0; bits < levels; ++bits)
        levels_[bits].bits = bits;
    level &first = levels_[static_cast<unsigned>(std::countr_zero(buckets))];
    if (!first.map())
        throw std::bad_alloc();
    first_ = current_ = &first;
    FULT_ASSERT(first.size() == buckets);
}

match_table::~match_table() = default;

inline match_table::bucket *match_table::lock(std::uint64_t hash) noexcept {
    // acquire: the level is complete; pairs with grow_if_crowded
    bucket &b = current_.load(std::memory_order_acquire)->at(hash);
    return b.try_lock() ? &b : lock_slowly(hash);
}

// Another thread has locked the bucket, or it is unused: then its keys are in the youngest used bucket that
// it descends from.
match_table::bucket *match_table::lock_slowly(std::uint64_t hash) noexcept {
    fult::detail::spin_wait wait;
    for (;;) {
        // If the acquire below finds a bucket `inner`, this loads in the next round the level that its
        // splitter saw, or a later one.
        const level *at = current_.load(std::memory_order_acquire);
        bucket *b = &at->at(hash);
        // acquire: pairs with split, for the keys of a leaf and the levels above it
        std::uint32_t state = b->state.load(std::memory_order_acquire);
        while (state == unused_bucket && at != first_)
            state = (b = &(--at)->at(hash))->state.load(std::memory_order_acquire);
        if (state == unused_bucket || state == leaf) {
            // Only buckets of the first level come into use by access.
            if (b->try_lock(state)) {
                if (at == current_.load(std::memory_order_acquire))
                    return b;
                split(*b, *(at + 1), hash);
                continue;
            }
        }
        if (state == busy_leaf)
            wait();
    }
}

// Moves the keys of a locked bucket to its two successors.
void match_table::split(bucket &parent, const level &to, std::uint64_t hash) noexcept {
    // lowest bit of the group in the next level
    const std::uint64_t side = std::uint64_t{1} << (63 - (to.bits - group_bits) + 1);
    bucket *const children[2] = {&to.at(hash & ~side), &to.at(hash | side)};
    FULT_ASSERT(parent.is_locked());
    FULT_ASSERT(children[0]->state.load(std::memory_order_relaxed) == unused_bucket,
                "a bucket is split once");
    FULT_ASSERT(children[1]->state.load(std::memory_order_relaxed) == unused_bucket &&
                children[0] != children[1]);
    std::size_t before = 0, after = 0;
    const auto give = [&](match_item &oldest, std::uint64_t key) {
        after += children[(hash_of(key) & side) != 0]->add(key, oldest);
    };
    for (const entry &each : parent.entries)
        if (match_item *const oldest = each.item())
            give(*oldest, each.key());
    for (match_item *each = parent.more; each; ++before) {
        match_item *const next = each->chain;
        give(*each, each->key);
        each = next;
    }
    if (before != after)
        chained_.fetch_sub(before - after, std::memory_order_relaxed);
    // release: a thread that finds a child in use finds its keys; one that finds the parent `inner` finds
    // both children in use
    children[0]->state.store(leaf, std::memory_order_release);
    children[1]->state.store(leaf, std::memory_order_release);
    parent.state.store(inner, std::memory_order_release);
}

match_item *match_table::access(std::uint64_t key, match_item &item, kind k) noexcept {
    FULT_ASSERT(!item.queued);
    bucket *const b = lock(hash_of(key));
    const bucket::place at = b->find(key);
    if (at.oldest && at.oldest->kind != k) {
        if (b->take(at, *at.oldest))
            chained_.fetch_sub(1, std::memory_order_relaxed);
        b->unlock();
        return at.oldest;
    }
    item.key = key;
    item.kind = k;
    item.next = nullptr;
    item.queued = true;
    bool crowded = false;
    if (at.oldest) {
        item.prev = at.oldest->prev;
        FULT_ASSERT(at.oldest->queued && !item.prev->next, "the youngest item has no next");
        item.prev->next = &item;
        at.oldest->prev = &item;
    } else {
        item.prev = &item;
        crowded = b->add(key, item);
    }
    b->unlock();
    if (crowded)
        grow_if_crowded();
    return nullptr;
}

bool match_table::remove(match_item &item) noexcept {
    bucket *const b = lock(hash_of(item.key));
    const bool in = item.queued;
    if (in && b->take(b->find(item.key), item))
        chained_.fetch_sub(1, std::memory_order_relaxed);
    b->unlock();
    return in;
}

match_item *match_table::take(std::uint64_t key, kind k) noexcept {
    bucket *const b = lock(hash_of(key));
    const bucket::place at = b->find(key);
    match_item *const oldest = at.oldest && at.oldest->kind == k ? at.oldest : nullptr;
    FULT_ASSERT(!oldest || oldest->queued);
    if (oldest && b->take(at, *oldest))
        chained_.fetch_sub(1, std::memory_order_relaxed);
    b->unlock();
    return oldest;
}

bool match_table::peek_with(std::uint64_t key, kind k, visitor f, void *context) noexcept {
    bucket *const b = lock(hash_of(key));
    match_item *const oldest = b->find(key).oldest;
    const bool there = oldest && oldest->kind == k;
    if (there)
        f(context, *oldest);
    b->unlock();
    return there;
}

// Counts one more chained key. The numbers decide only about growth, so relaxed order suffices.
void match_table::grow_if_crowded() noexcept {
    const std::size_t chained = chained_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (chained <= grow_above_.load(std::memory_order_relaxed) ||
        growing_.exchange(true, std::memory_order_acquire))
        return;
    // The exchange's acquire sees what the last growing thread has done.
    const level &full = *current_.load(std::memory_order_relaxed);
    if (chained > grow_above_.load(std::memory_order_relaxed) && full.size() < most_) {
        level &next = levels_[full.bits + 1];
        FULT_ASSERT(full.bits + 1 < levels && !next.buckets, "the next level is not mapped yet");
        if (next.map()) {
            grow_above_.store(next.size() / 8, std::memory_order_relaxed);
            current_.store(&next, std::memory_order_release); // with its memory
        } else {
            grow_above_.store(2 * chained, std::memory_order_relaxed); // retry later
        }
    }
    growing_.store(false, std::memory_order_release);
}

// Calls f on each bucket that holds keys, locked; f unlocks it. Keys move only to successors, which are
// visited later.
template <class F> void match_table::each_bucket(F f) noexcept {
    const auto visit = [&](const auto &self, const level &at, std::size_t index) -> void {
        bucket &b = at.buckets[index];
        fult::detail::spin_wait wait;
        for (;;) {
            const std::uint32_t state = b.state.load(std::memory_order_acquire);
            if (state == unused_bucket)
                return; // of the first level: never accessed
            if (state == inner)
                break;
            if (state == leaf && b.try_lock())
                return f(b);
            wait();
        }
        constexpr std::size_t in_group = (std::size_t{1} << group_bits) - 1;
        const std::size_t child = (index & ~in_group) << 1 | (index & in_group);
        self(self, *(&at + 1), child);
        self(self, *(&at + 1), child + in_group + 1);
    };
    for (std::size_t i = 0; i < first_->size(); ++i)
        visit(visit, *first_, i);
}

match_item *match_table::remove_all(kind k, condition pred, void *context) noexcept {
    match_item *out = nullptr, **end = &out;
    each_bucket([&](bucket &b) {
        const auto from_queue = [&](match_item *oldest) {
            const std::uint64_t key = oldest->key;
            for (match_item *each = oldest->kind == k ? oldest : nullptr; each;) {
                match_item *const next = each->next;
                if (pred(context, *each)) {
                    if (b.take(b.find(key), *each))
                        chained_.fetch_sub(1, std::memory_order_relaxed);
                    *end = each;
                    end = &each->next;
                    each->next = nullptr;
                }
                each = next;
            }
        };
        // The chain comes first: an item removed from an entry is replaced by one of the chain, which must
        // have been visited.
        for (match_item *each = b.more; each;) {
            match_item *const next = each->chain;
            from_queue(each);
            each = next;
        }
        for (entry &each : b.entries)
            if (match_item *const oldest = each.item())
                from_queue(oldest);
        b.unlock();
    });
    return out;
}

void match_table::prefetch(std::uint64_t key) const noexcept {
    __builtin_prefetch(&current_.load(std::memory_order_acquire)->at(hash_of(key)), 1);
}

void match_table::prefetch_item(std::uint64_t key) const noexcept {
    const bucket &b = current_.load(std::memory_order_acquire)->at(hash_of(key));
    for (const entry &each : b.entries)
        if (const auto *item = reinterpret_cast<const char *>(each.item()); item && each.key() == key) {
            __builtin_prefetch(item, 1); // a guess: it may be gone, which is harmless to a prefetch
            __builtin_prefetch(item + 64, 1);
        }
}

std::size_t match_table::buckets() const noexcept { return current_.load(std::memory_order_acquire)->size(); }

} // namespace fult::comm::detail
