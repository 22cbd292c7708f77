// Registered memory of a transport. Registrations are kept after their last use, for the next use of the same
// bytes.
//
// What keeps that right: memory of an operation is in use until the operation ends, so it cannot be unmapped.
// Afterwards mapping_watch reports its unmapping before the address can be used again, and the registration
// is dropped. Memory that cannot be watched is registered for each use, unless the adapter pages on demand:
// then it follows the page tables itself.
//
// Each registration has exactly the bytes and the rights of its use: other ranks may read, or write, or
// neither.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "comm/transport/transport.hpp"
#include "comm/verbs/mapping_watch.hpp"
#include "comm/verbs/registrar.hpp"

namespace fult::comm::detail {

struct registration {
    std::uintptr_t base = 0;
    std::size_t size = 0;
    int rights = 0; // ibv_access_flags
    region_ptr region;
    unsigned users = 0;
    bool is_cached = false; // after its last use
    bool is_listed = false; // found by later uses
    registration *next = nullptr;
    registration *newer = nullptr, *older = nullptr; // among those that are not in use
};

class registrations final : private mapping_listener {
  public:
    // pages_on_demand: the adapter does, for RDMA reads and writes.
    registrations(registrar &owner, bool pages_on_demand) noexcept;
    registrations(const registrations &) = delete;
    registrations &operator=(const registrations &) = delete;
    ~registrations();

    // Any thread. take returns nullptr and errno if the memory cannot be registered.
    registration *take(void *base, std::size_t size, access_rights allowed) noexcept;
    void give(registration &r) noexcept;

    std::uint64_t made() const noexcept { return made_.load(std::memory_order_relaxed); }
    std::uint64_t hits() const noexcept { return hits_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::size_t buckets = 512;

    void lock() noexcept override { mutex_.lock(); }
    void unlock() noexcept override { mutex_.unlock(); }
    void unmapped(std::uintptr_t begin, std::uintptr_t end) noexcept override;

    registration *&bucket_of(std::uintptr_t base, std::size_t size) noexcept;
    registration *find(std::uintptr_t base, std::size_t size, int rights) noexcept;
    region_ptr make(registration &r) noexcept;
    void add_idle(registration &r) noexcept;
    void remove_idle(registration &r) noexcept;
    void unlist(registration &r) noexcept;
    registration *excess(std::size_t most, std::size_t most_bytes) noexcept;
    static void destroy(registration *first) noexcept;
    bool drop_idle() noexcept;

    registrar &registrar_;
    const bool pages_on_demand_;
    const std::size_t max_bytes_; // of those that are not in use
    std::atomic<std::uint64_t> made_{0}, hits_{0};
    // No memory is allocated or freed under it, since that might wait for the watch, which waits for the
    // lock.
    std::mutex mutex_;
    std::array<registration *, buckets> table_{};
    registration *newest_ = nullptr, *oldest_ = nullptr; // not in use
    std::size_t idle_bytes_ = 0, idle_ = 0;
    registration *dead_ = nullptr; // dropped by the watch, to be destroyed by another thread
    mapping_watch watch_;          // last: its thread uses the others
};

} // namespace fult::comm::detail
