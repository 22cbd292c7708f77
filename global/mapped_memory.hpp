// Memory of the system, which other processes of the host may map, too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fult::global::detail {

// By which other processes of the host find memory: a plain value that is sent to them.
struct memory_name {
    std::uint64_t token = 0; // 0: it is not to be mapped
    std::int32_t process = 0;
    std::int32_t descriptor = -1; // in that process
};

// Zero at first, and allocated when it is first written. Empty if the system has none.
class mapped_memory {
  public:
    enum class use { by_this_process, by_all };

    mapped_memory() noexcept = default;
    // By all as far as the system permits it: otherwise it has no name.
    mapped_memory(std::size_t size, use wanted) noexcept;
    // The memory of another process. Empty if it cannot be mapped: it belongs to another host or user, its
    // name has ended, or this process has a limit of its address space. It stays mapped when its owner ends.
    mapped_memory(const memory_name &name, std::size_t size) noexcept;
    mapped_memory(mapped_memory &&from) noexcept;
    mapped_memory &operator=(mapped_memory &&from) noexcept;
    ~mapped_memory();

    std::byte *begin() const noexcept { return begin_; }
    std::size_t size() const noexcept { return size_; }
    memory_name name() const noexcept { return name_; }

    // All others have mapped it.
    void end_name() noexcept;
    // By the owner: the others see that the memory has ended. What they access is theirs from then on.
    void end() noexcept;
    bool has_ended() const noexcept { return begin_ && end_word().load(std::memory_order_relaxed) != 0; }

  private:
    // Behind the memory, in a cache line of its own.
    static constexpr std::size_t line = 64;
    static constexpr std::size_t end_offset(std::size_t size) noexcept {
        return (size + line - 1) / line * line;
    }
    static constexpr std::size_t mapped_size(std::size_t size) noexcept { return end_offset(size) + line; }
    std::atomic_ref<std::uint32_t> end_word() const noexcept {
        return std::atomic_ref(*reinterpret_cast<std::uint32_t *>(begin_ + end_offset(size_)));
    }

    std::byte *begin_ = nullptr;
    std::size_t size_ = 0;
    memory_name name_;
};

} // namespace fult::global::detail
