// A part of a cache: a hash table of lines, their order of use, and a lock. tests/model/cache.pml is its
// protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>
#include <fult/detail/waiter.hpp>
#include <fult/global/pointer.hpp>

namespace fult::global::detail {

class cache_shard;

// One line. Its fields are protected by the lock of its shard; the bytes are written by the task that fetches
// it, and constant afterwards. It is deleted when it is neither linked nor pinned.
struct alignas(64) cache_line {
    enum class state : std::uint8_t { fetching, ready, failed };

    place where;
    std::uint64_t bytes = 0;
    cache_line *next = nullptr;  // in its bucket, or in a list of dropped ones
    cache_line *newer = nullptr; // in the order of use: linked lines that are not pinned
    cache_line *older = nullptr;
    cache_shard *shard = nullptr;
    std::uint32_t pins = 0; // by handles, by the task that fetches it, and by those that wait for that
    state now = state::fetching;
    bool linked = false;             // in the table
    fult::detail::wait_list waiters; // for the end of the transfer
    std::exception_ptr error;        // of the transfer

    std::byte *data() noexcept { return reinterpret_cast<std::byte *>(this + 1); }
    const std::byte *data() const noexcept { return reinterpret_cast<const std::byte *>(this + 1); }

    static cache_line *make(cache_shard &of, place where, std::uint64_t bytes); // throws std::bad_alloc
    static void destroy(cache_line *line) noexcept;
    static void destroy_all(cache_line *list) noexcept;
};

struct shard_counters {
    std::uint64_t hits = 0, misses = 0, joined = 0, evictions = 0, fetched = 0;
};

// All but grow and the constructor: with the lock held. Lines that are to be deleted are added to `dropped`,
// for the caller to delete without the lock.
class alignas(64) cache_shard {
  public:
    cache_shard() : buckets_(16) {}
    cache_shard(const cache_shard &) = delete;
    cache_shard &operator=(const cache_shard &) = delete;

    fult::detail::spin_lock lock;
    bool ordered = false;                    // lru
    std::uint64_t bound = ~std::uint64_t{0}; // bytes
    shard_counters counted;

    cache_line *find(place where, std::uint64_t bytes) const noexcept {
        FULT_ASSERT(lock.is_held(), "the table changes under the lock");
        for (cache_line *each = buckets_[bucket_of(where, bytes)]; each; each = each->next)
            if (each->where == where && each->bytes == bytes)
                return each;
        return nullptr;
    }
    void pin(cache_line &line) noexcept {
        if (line.pins++ == 0 && ordered && line.linked)
            remove_from_order(line);
    }
    void unpin(cache_line &line, cache_line *&dropped) noexcept {
        FULT_ASSERT(line.pins != 0 && lock.is_held(), "it was pinned");
        if (--line.pins != 0)
            return;
        if (!line.linked) {
            drop(line, dropped);
        } else if (ordered) {
            add_to_order(line);
            evict(dropped);
        }
    }
    // A new line, pinned, that is not in the table.
    void adopt() noexcept { ++alive_; }
    // A new line, pinned.
    void link(cache_line &line, cache_line *&dropped) noexcept;
    // Out of the table; deleted if it is not pinned.
    void unlink(cache_line &line, cache_line *&dropped) noexcept;
    // The lines of some buckets; false: there are no such buckets.
    bool unlink_buckets(std::size_t first, std::size_t count, cache_line *&dropped) noexcept;

    bool is_full() const noexcept { return lines_ > buckets_.size(); }
    std::uint64_t lines() const noexcept { return lines_; }
    std::uint64_t bytes() const noexcept { return bytes_; }
    std::uint64_t count_alive() const noexcept { return alive_; } // also those that are only pinned
    // Without the lock: doubles the table. Without memory for that, chains get longer.
    void grow() noexcept;

    static std::uint64_t hash_of(place where, std::uint64_t bytes) noexcept {
        return (where.word() + (bytes << 43)) * 0x9e3779b97f4a7c15U;
    }

  private:
    std::size_t bucket_of(place where, std::uint64_t bytes) const noexcept {
        return static_cast<std::size_t>(hash_of(where, bytes) >> 20) & (buckets_.size() - 1);
    }
    void drop(cache_line &line, cache_line *&dropped) noexcept {
        --alive_;
        line.next = dropped;
        dropped = &line;
    }
    void evict(cache_line *&dropped) noexcept;
    void add_to_order(cache_line &line) noexcept;
    void remove_from_order(cache_line &line) noexcept;

    std::vector<cache_line *> buckets_; // a power of two
    std::uint64_t lines_ = 0;
    std::uint64_t alive_ = 0;
    std::uint64_t bytes_ = 0; // footprints
    cache_line *newest_ = nullptr;
    cache_line *oldest_ = nullptr;
};

} // namespace fult::global::detail
