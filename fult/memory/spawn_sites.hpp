// Where the tasks of a home were spawned, recorded if the option spawn_sites is on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <fult/detail/layout.hpp>

namespace fult::detail {

class spawn_sites {
  public:
    spawn_sites() = default;
    ~spawn_sites();
    spawn_sites(const spawn_sites &) = delete;
    spawn_sites &operator=(const spawn_sites &) = delete;

    static constexpr std::size_t frames = 6; // most that are recorded of a task

    void open() noexcept; // before, and where memory cannot be allocated, nothing is recorded
    void record(std::uint32_t slot) noexcept; // called by the spawner
    // Stores a task's frames, innermost first. Returns their number.
    std::size_t read(std::uint32_t slot, std::span<void *> into) const noexcept;

  private:
    using frame = std::atomic<void *>;
    static constexpr std::uint32_t chunk_slots = 4096;
    static constexpr std::size_t chunks = max_slots / chunk_slots;

    frame *entries_of(std::uint32_t slot) const noexcept;
    frame *make_entries(std::uint32_t slot) noexcept;

    // `frames` entries per slot, in chunks that are mapped when a slot of theirs is first recorded
    std::atomic<frame *> *chunks_ = nullptr;
};

} // namespace fult::detail
