#include "spawn_sites.hpp"

#include "fult/base/unwind.hpp"
#include "virtual_memory.hpp"

namespace fult::detail {

void spawn_sites::open() noexcept {
    chunks_ = static_cast<std::atomic<frame *> *>(map_pages(chunks * sizeof *chunks_));
}

spawn_sites::~spawn_sites() {
    if (!chunks_)
        return;
    for (std::size_t i = 0; i < chunks; ++i)
        if (frame *const chunk = chunks_[i].load(std::memory_order_relaxed))
            unmap_pages(chunk, chunk_slots * frames * sizeof(frame));
    unmap_pages(chunks_, chunks * sizeof *chunks_);
}

spawn_sites::frame *spawn_sites::entries_of(std::uint32_t slot) const noexcept {
    frame *const chunk = chunks_ ? chunks_[slot / chunk_slots].load(std::memory_order_acquire)
                                 : nullptr; // pairs with make_entries
    return chunk ? chunk + std::size_t{slot % chunk_slots} * frames : nullptr;
}

// Two threads may do so for the same chunk, which the first one keeps.
spawn_sites::frame *spawn_sites::make_entries(std::uint32_t slot) noexcept {
    if (frame *const there = entries_of(slot); there || !chunks_)
        return there;
    auto *const made = static_cast<frame *>(map_pages(chunk_slots * frames * sizeof(frame)));
    frame *before = nullptr;
    if (made &&
        !chunks_[slot / chunk_slots].compare_exchange_strong(
            before, made, std::memory_order_release, std::memory_order_relaxed)) // pairs with entries_of
        unmap_pages(made, chunk_slots * frames * sizeof(frame));
    return entries_of(slot);
}

void spawn_sites::record(std::uint32_t slot) noexcept {
    frame *const site = make_entries(slot);
    if (!site)
        return;
    void *found[frames];
    const std::size_t count = frames_here(found, 1); // skips the library function that calls this
    for (std::size_t i = 0; i < frames; ++i)
        site[i].store(i < count ? found[i] : nullptr, std::memory_order_relaxed);
}

std::size_t spawn_sites::read(std::uint32_t slot, std::span<void *> into) const noexcept {
    const frame *const site = entries_of(slot);
    std::size_t count = 0;
    for (; site && count < into.size() && count < frames; ++count)
        if (!(into[count] = site[count].load(std::memory_order_relaxed)))
            break;
    return count;
}

} // namespace fult::detail
