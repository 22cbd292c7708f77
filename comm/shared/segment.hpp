// The memory in which a rank receives messages: a head, and a ring for each other rank of the host. It has a
// name until all ranks have opened it. All of it is allocated at creation: otherwise a file system that
// becomes full later could end the process by SIGBUS in the middle of a message.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "comm/shared/ring.hpp"
#include "comm/shared/shared_file.hpp"

namespace fult::comm::detail {

// Identical for all ranks of a job.
struct segment_shape {
    std::uint64_t slots = 0;       // number of rings: the other ranks of the host
    std::uint64_t ring = 0;        // bytes of a ring
    std::uint64_t max_message = 0; // maximum message size in bytes
    std::uint64_t max_polled = 0;  // as in shared_settings
    bool operator==(const segment_shape &) const = default;

    // Offsets and sizes; multiples of a page.
    std::size_t head_bytes() const noexcept;
    std::size_t slot_bytes() const noexcept;
    std::size_t slot_offset(std::size_t slot) const noexcept { return head_bytes() + slot * slot_bytes(); }
    std::size_t bytes() const noexcept { return slot_offset(slots); }
};

// The shape that fits into `room` bytes, with rings no larger than those of `wanted`: if space is short, the
// rings and the maximum message size shrink, down to a page per ring. That smallest shape may exceed `room`.
segment_shape fit(const segment_shape &wanted, std::size_t room) noexcept;

// Free bytes of the system's shared memory (/dev/shm); 0 if there is none.
std::size_t free_shared_memory() noexcept;

// The beginning of a segment. The words follow, one per cache line: a bit for each slot whose ring has
// messages.
struct alignas(64) segment_head {
    static constexpr std::uint64_t expected = 0x3147'4e49'5254'4c46; // "FLTRING1"
    std::uint64_t magic = 0;
    segment_shape shape;
};
struct alignas(64) slot_word {
    std::atomic<std::uint64_t> ready_bits{0};
};
inline slot_word *slot_words(const mapping &head) noexcept {
    return reinterpret_cast<slot_word *>(head.at() + sizeof(segment_head));
}

// Throws std::system_error, ENOSPC if there is not enough memory.
file create_segment(const std::string &name, const segment_shape &shape);
// Opens another rank's segment. Throws std::runtime_error if it is missing or has another shape.
file open_segment(const std::string &name, const segment_shape &shape);

// The ring located at `at`.
ring_location make_ring(std::byte *at, const segment_shape &shape, int from, int to) noexcept;

} // namespace fult::comm::detail
