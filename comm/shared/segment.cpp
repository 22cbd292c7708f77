#include "comm/shared/segment.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {
namespace {

constexpr std::size_t small_page = 4096; // the offset of a mapping is a multiple of a page
constexpr std::size_t large_page = 65536;

std::size_t page_size() noexcept {
    static const std::size_t size =
        ::sysconf(_SC_PAGESIZE) > static_cast<long>(small_page) ? large_page : small_page;
    return size;
}

std::size_t whole_pages(std::size_t bytes) noexcept {
    return (bytes + page_size() - 1) / page_size() * page_size();
}

} // namespace

std::size_t segment_shape::head_bytes() const noexcept {
    return whole_pages(sizeof(segment_head) + (slots + 63) / 64 * sizeof(slot_word));
}

std::size_t segment_shape::slot_bytes() const noexcept { return whole_pages(sizeof(ring_control) + ring); }

segment_shape fit(const segment_shape &wanted, std::size_t room) noexcept {
    const std::size_t head = wanted.head_bytes();
    const std::size_t a_slot = room > head ? (room - head) / wanted.slots / page_size() * page_size() : 0;
    if (a_slot >= wanted.slot_bytes())
        return wanted;
    segment_shape smaller = wanted;
    smaller.ring = (std::max(a_slot, page_size()) - sizeof(ring_control)) / ring_word * ring_word;
    smaller.ring = std::min(smaller.ring, wanted.ring);
    const std::size_t quarter = (smaller.ring - ring_word) / messages_per_ring / ring_word * ring_word;
    smaller.max_message = std::min(wanted.max_message, static_cast<std::uint64_t>(quarter - ring_word));
    FULT_ASSERT(quarter > ring_word && smaller.ring % ring_word == 0, "a page holds a few words");
    return smaller;
}

std::size_t free_shared_memory() noexcept {
    struct statvfs envelope {};
    if (::statvfs("/dev/shm", &envelope) != 0 || ::access("/dev/shm", W_OK | X_OK) != 0)
        return 0;
    if (envelope.f_blocks == 0) // a tmpfs without a size limit
        return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(envelope.f_bavail) * envelope.f_frsize;
}

file create_segment(const std::string &name, const segment_shape &shape) {
    file made = create_shared_file(name, shape.bytes(), "FULT_COMM_SAME_HOST=none");
    try {
        const mapping head(made, 0, shape.head_bytes(), name);
        ::new (head.at()) segment_head{segment_head::expected, shape};
    } catch (const std::system_error &) {
        remove_shared_file(name);
        throw;
    }
    return made;
}

file open_segment(const std::string &name, const segment_shape &shape) {
    file found = open_shared_file(name, access_to_file::write,
                                  "has a rank of this host failed, or do they not all see the same /dev/shm? "
                                  "FULT_COMM_SAME_HOST=none does without");
    struct stat envelope {};
    if (::fstat(found.get(), &envelope) != 0 || static_cast<std::size_t>(envelope.st_size) != shape.bytes())
        throw std::runtime_error(
            "fult-comm: shared memory /" + name +
            " has another size than this rank's; give all ranks the same FULT_COMM_* settings");
    const mapping head(found, 0, shape.head_bytes(), name);
    const auto &seen = *reinterpret_cast<const segment_head *>(head.at());
    if (seen.magic != segment_head::expected || !(seen.shape == shape))
        throw std::runtime_error(
            "fult-comm: shared memory /" + name +
            " is not as this rank's; give all ranks the same FULT_COMM_* settings and library");
    return found;
}

ring_location make_ring(std::byte *at, const segment_shape &shape, int from, int to) noexcept {
    FULT_ASSERT(fult::detail::address_of(at) % alignof(ring_control) == 0 && from != to);
    FULT_ASSERT(shape.ring % ring_word == 0 && min_ring(shape.max_message) <= shape.ring);
    ring_location place;
    place.control = fult::detail::at_address<ring_control>(fult::detail::address_of(at));
    place.data = at + sizeof(ring_control);
    place.bytes = shape.ring;
    place.max_message = shape.max_message;
    place.mark =
        (static_cast<std::uint32_t>(from) * 0x9e37'79b1U) ^ (static_cast<std::uint32_t>(to) * 0x85eb'ca77U);
    return place;
}

} // namespace fult::comm::detail
