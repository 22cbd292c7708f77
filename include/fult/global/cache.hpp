/// @file
/// A cache of objects of other ranks, shared by the tasks of a rank: what one task has fetched, all have.
/// Source: sections 2.3 and 3.3 of PPL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <fult/global/memory.hpp>

namespace fult::global {

/// What a cache keeps.
enum class cache_policy {
    none,     ///< nothing: each get fetches
    keep_all, ///< all, until it is invalidated
    lru       ///< the most recently used lines, within a number of bytes
};

/// Options of a cache.
struct cache_options {
    cache_policy policy = cache_policy::keep_all; ///< what is kept
    std::size_t bytes = std::size_t{64} << 20;    ///< for lru: the bound, with each line's footprint
    /// Parts with a lock each, a power of two; 0: by the bound. lru divides the bound among them, and its
    /// order is that of each; with 1 it is exact.
    unsigned shards = 0;
};

/// What a cache has counted.
struct cache_counters {
    std::uint64_t hits = 0;      ///< gets of a line that was there
    std::uint64_t misses = 0;    ///< gets that began a transfer
    std::uint64_t joined = 0;    ///< gets that waited for the transfer of another one
    std::uint64_t evictions = 0; ///< lines that lru has dropped
    std::uint64_t fetched = 0;   ///< bytes that were transferred
    std::uint64_t lines = 0;     ///< that are cached now
    std::uint64_t bytes = 0;     ///< their footprints
};

/// Thrown by cache::get_cached.
class FULT_API not_cached : public std::out_of_range {
  public:
    using std::out_of_range::out_of_range; ///< called by the library
    ~not_cached() override;
};

/// @cond internal
namespace detail {
struct cache_line;
struct cache_state;
FULT_API void release(cache_line *line) noexcept;
FULT_API const std::byte *bytes_of(const cache_line *line) noexcept;
} // namespace detail
/// @endcond

/// Objects as a get has found them. It pins them: they stay, unchanged, while it exists, whatever the cache
/// drops, invalidates or fetches again. Movable; empty afterwards. Destroyed before its cache. An object of
/// the own heap is not copied: the handle refers to it.
template <class T> class cached {
  public:
    cached() noexcept = default; ///< empty
    /// @cond internal
    cached(const T *data, std::size_t count, detail::cache_line *line) noexcept
        : data_(data), count_(count), line_(line) {}
    /// @endcond
    /// The other is empty afterwards.
    cached(cached &&other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          count_(std::exchange(other.count_, 0)),
          line_(std::exchange(other.line_, nullptr)) {}
    /// Releases what it pinned before.
    cached &operator=(cached &&other) noexcept {
        cached before(std::move(*this));
        data_ = std::exchange(other.data_, nullptr);
        count_ = std::exchange(other.count_, 0);
        line_ = std::exchange(other.line_, nullptr);
        return *this;
    }
    ~cached() {
        if (line_)
            detail::release(line_);
    }

    explicit operator bool() const noexcept { return data_ != nullptr; }   ///< false if it is empty
    const T &operator*() const noexcept { return *data_; }                 ///< the first object
    const T *operator->() const noexcept { return data_; }                 ///< the first object
    const T &operator[](std::size_t i) const noexcept { return data_[i]; } ///< one of them
    std::span<const T> span() const noexcept { return {data_, count_}; }   ///< all of them
    std::size_t size() const noexcept { return count_; }                   ///< their number

  private:
    const T *data_ = nullptr;
    std::size_t count_ = 0;
    detail::cache_line *line_ = nullptr; // null: in the own heap
};

/// A cache for objects of other ranks. What a get asks for is a line: an object, or a run of them, always
/// with the same begin and number. There is no coherence: a line is as it was when it was fetched. Programs
/// in phases call end_phase() between them; others invalidate, or fetch. A put changes no cache.
///
/// Each rank may have any number of caches of a memory, which outlives them. Calls are legal from any task on
/// any worker, and from foreign threads, which block. Errors are those of memory::get; the tasks that waited
/// for a transfer that has failed get its error, too, and nothing is cached.
class FULT_API cache {
  public:
    /// Throws std::invalid_argument for a number of shards that is no power of two up to 1,024,
    /// std::bad_alloc.
    explicit cache(memory &in, const cache_options &settings = {});
    cache(const cache &) = delete;
    cache &operator=(const cache &) = delete;
    ~cache(); ///< handles that still exist end the program with a message

    /// The line if it is cached; otherwise fetches it. Tasks that need the same line at the same time cause
    /// one transfer. Suspends only while a transfer is under way.
    template <class T> cached<std::remove_const_t<T>> get(global_ptr<T> p, std::size_t count = 1) {
        return find<T>(p, count, &cache::get_line);
    }
    /// Always fetches the line, and replaces the one that is cached; handles of that one keep it. May
    /// suspend.
    template <class T> cached<std::remove_const_t<T>> fetch(global_ptr<T> p, std::size_t count = 1) {
        return find<T>(p, count, &cache::fetch_line);
    }
    /// The line if it is cached; otherwise throws not_cached. Never suspends.
    template <class T> cached<std::remove_const_t<T>> get_cached(global_ptr<T> p, std::size_t count = 1) {
        return find<T>(p, count, &cache::cached_line);
    }

    /// Drops a line: the next get fetches it. Never suspends.
    template <class T> void invalidate(global_ptr<T> p, std::size_t count = 1) noexcept {
        drop_line(p.where(), memory::bytes_of<T>(count));
    }
    /// Drops all lines. Never suspends.
    void invalidate() noexcept;
    /// Ends a phase on all ranks: returns when each has called it, with nothing cached, so that later gets
    /// see what any rank has put before. Collective; no other task of the rank uses the cache meanwhile. May
    /// suspend.
    void end_phase();

    cache_counters counters() const; ///< since the begin
    /// Prints them in a line with the rank. Does not suspend.
    void print_counters(std::FILE *to = stderr) const;
    /// Bytes that a line of `bytes` bytes takes.
    static std::size_t footprint(std::size_t bytes) noexcept;

  private:
    using finder = detail::cache_line *(cache::*)(detail::place, std::uint64_t);
    template <class T>
    cached<std::remove_const_t<T>> find(global_ptr<T> p, std::size_t count, finder line_of) {
        using object = std::remove_const_t<T>;
        detail::check_element<T>();
        static_assert(alignof(T) <= 64, "fult::global: cached objects are aligned to 64 bytes at most");
        const std::uint64_t bytes = memory::bytes_of<T>(count);
        if (p.rank() == rank_)
            return {static_cast<const object *>(in_.local_bytes(p.where(), bytes)), count, nullptr};
        detail::cache_line *const line = (this->*line_of)(p.where(), bytes);
        return {reinterpret_cast<const object *>(detail::bytes_of(line)), count, line};
    }
    detail::cache_line *get_line(detail::place where, std::uint64_t bytes);
    detail::cache_line *fetch_line(detail::place where, std::uint64_t bytes);
    detail::cache_line *cached_line(detail::place where, std::uint64_t bytes);
    void drop_line(detail::place where, std::uint64_t bytes) noexcept;

    memory &in_;
    const int rank_;
    std::unique_ptr<detail::cache_state> state_;
};

} // namespace fult::global
