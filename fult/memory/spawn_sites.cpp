#include "spawn_sites.hpp"

#include <fult/detail/layout.hpp>

#include "fult/base/unwind.hpp"
#include "virtual_memory.hpp"

namespace fult::detail {
namespace {

constexpr std::size_t all_sites_bytes = std::size_t{max_slots} * spawn_sites::frames * sizeof(void *);

} // namespace

void spawn_sites::open() noexcept { all_ = static_cast<std::atomic<void *> *>(map_pages(all_sites_bytes)); }

spawn_sites::~spawn_sites() {
    if (all_)
        unmap_pages(all_, all_sites_bytes);
}

void spawn_sites::record(std::uint32_t slot) noexcept {
    if (!all_)
        return;
    void *found[frames];
    const std::size_t count = frames_here(found, 1); // skips the library function that calls this
    std::atomic<void *> *site = all_ + std::size_t{slot} * frames;
    for (std::size_t i = 0; i < frames; ++i)
        site[i].store(i < count ? found[i] : nullptr, std::memory_order_relaxed);
}

std::size_t spawn_sites::read(std::uint32_t slot, std::span<void *> into) const noexcept {
    std::size_t count = 0;
    for (; all_ && count < into.size() && count < frames; ++count)
        if (!(into[count] = all_[std::size_t{slot} * frames + count].load(std::memory_order_relaxed)))
            break;
    return count;
}

} // namespace fult::detail
