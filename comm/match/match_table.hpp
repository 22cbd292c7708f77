// Match table: posted receives and unexpected messages, by key, in one hash table.
//
// A bucket is a cache line: a spin bit, three keys with the oldest item of each, and further keys chained
// through the items themselves. So an access costs two cache misses, bucket and item, and never allocates.
// The items of one key form a queue of one kind only: two of different kinds would have been matched.
//
// The table grows incrementally; no access waits for it. If too many keys are chained, a level of twice as
// many buckets is allocated, and each bucket is split into its two successors on its next access. If there is
// no memory for a level, the chains grow instead: slower, but nothing is lost. The table never shrinks; the
// levels before the current one take at most as much memory as the current one.
//
// All functions from any thread; none suspends. Callbacks run under a bucket's lock: a few instructions, and
// no call of the same table.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "comm/match/match_item.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

class match_table {
  public:
    using kind = match_kind;
    static constexpr std::size_t first_buckets = 1 << 12; // 256 KiB
    static constexpr std::size_t max_buckets = 1 << 26;   // 4 GiB; beyond, only chains grow

    // Both are powers of two, from 8 on. Throws std::bad_alloc, std::invalid_argument.
    explicit match_table(std::size_t buckets = first_buckets, std::size_t most = max_buckets);
    match_table(const match_table &) = delete;
    match_table &operator=(const match_table &) = delete;
    ~match_table(); // items that are still queued belong to the caller

    // If the oldest item of that key is of the other kind, removes and returns it; `item` is not queued then.
    // Else appends `item` to the queue of its key and returns nullptr: from then on another thread may take
    // it at any time.
    match_item *access(std::uint64_t key, match_item &item, kind k) noexcept;

    // Removes the item if it is still queued; returns false if it was matched or removed. The caller keeps
    // the item alive during the call.
    bool remove(match_item &item) noexcept;

    // Removes and returns the oldest item of that key if it is of that kind; nullptr if there is none.
    match_item *take(std::uint64_t key, kind k) noexcept;

    // Calls f(match_item &) on the oldest item of that key if it is of that kind, without removing it;
    // returns false if there is none.
    template <class F> bool peek(std::uint64_t key, kind k, F f) noexcept {
        return peek_with(
            key, k, [](void *f, match_item &i) { (*static_cast<F *>(f))(i); }, std::addressof(f));
    }

    // Removes all items of that kind for which pred(match_item &) is true, linked by `next`, those of a key
    // in order. Misses none that was queued before the call and stays. Slow: visits every bucket.
    template <class P> match_item *remove_if(kind k, P pred) noexcept {
        return remove_all(
            k, [](void *p, match_item &i) -> bool { return (*static_cast<P *>(p))(i); },
            std::addressof(pred));
    }

    // Prefetches the key's bucket, or, once that is in the cache, the oldest item of the key (its first two
    // cache lines). Each pays off some 100 ns ahead: a poller with several messages calls prefetch for the
    // second next one and prefetch_item for the next.
    void prefetch(std::uint64_t key) const noexcept;
    void prefetch_item(std::uint64_t key) const noexcept;

    std::size_t buckets() const noexcept; // of the current level

  private:
    struct bucket;
    struct level;
    struct entry;
    using visitor = void (*)(void *, match_item &);
    using condition = bool (*)(void *, match_item &);

    bucket *lock(std::uint64_t hash) noexcept;
    bucket *lock_slowly(std::uint64_t hash) noexcept;
    void split(bucket &parent, const level &to, std::uint64_t hash) noexcept;
    void grow_if_crowded() noexcept;
    bool peek_with(std::uint64_t key, kind k, visitor f, void *context) noexcept;
    match_item *remove_all(kind k, condition pred, void *context) noexcept;
    template <class F> void each_bucket(F f) noexcept;

    static constexpr unsigned levels = 32;

    // read by each access
    alignas(64) std::atomic<const level *> current_{nullptr};
    const level *first_ = nullptr;
    std::unique_ptr<level[]> levels_; // by the number of bits; mapped from first_ to current_
    std::size_t most_;
    // written when keys are chained
    alignas(64) std::atomic<std::size_t> chained_{0}; // chained keys, without an entry
    std::atomic<std::size_t> grow_above_;             // threshold of chained_
    std::atomic<bool> growing_{false};
};

} // namespace fult::comm::detail
