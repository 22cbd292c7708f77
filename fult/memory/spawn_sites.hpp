// Where the tasks of a home were spawned, recorded if the option spawn_sites is on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fult::detail {

class spawn_sites {
  public:
    spawn_sites() = default;
    ~spawn_sites();
    spawn_sites(const spawn_sites &) = delete;
    spawn_sites &operator=(const spawn_sites &) = delete;

    static constexpr std::size_t frames = 6; // most that are recorded of a task

    void open() noexcept; // before, and if memory cannot be allocated, nothing is recorded
    void record(std::uint32_t slot) noexcept; // called by the spawner
    // Stores a task's frames, innermost first. Returns their number.
    std::size_t read(std::uint32_t slot, std::span<void *> into) const noexcept;

  private:
    std::atomic<void *> *all_ = nullptr; // `frames` entries per slot
};

} // namespace fult::detail
