#include "home_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

#include "fult/base/option_table.hpp"
#include "fult/tasks/public_words.hpp"
#include "virtual_memory.hpp"

namespace fult::detail {
namespace {

static_assert(slot_words_offset + (max_slots / 64) * sizeof(slot_word) <= ready_bytes_offset);
static_assert(ready_bytes_offset + max_slots <= tasks_offset);
static_assert(max_tasks_limit == slots_in_word * half_words);

// Storage per 64 slots: the descriptors and a part of each of these arrays.
struct array {
    std::uintptr_t begin;
    std::size_t bytes_a_word;
};
constexpr array descriptors{tasks_offset, 64 * sizeof(task)};
constexpr array arrays[] = {
    {runnable_offsets.words, sizeof(shared_word)}, {pinned_offsets.words, sizeof(shared_word)},
    {returned_offsets.words, sizeof(shared_word)}, {slot_words_offset, sizeof(slot_word)},
    {ready_bytes_offset, 64 * sizeof(ready_byte)}, descriptors,
};
constexpr std::size_t hints_begin = worker_room, hints_end = returned_offsets.summary + 0x1000;
static_assert(hints_begin <= runnable_offsets.top && hints_end <= runnable_offsets.words);

// Bytes of a home, in whole pages.
struct part {
    std::uintptr_t begin, end;
};

std::uintptr_t page_above(std::uintptr_t offset) noexcept {
    return (offset + page_size() - 1) / page_size() * page_size();
}

// What words [from, to) of a half add to the words before `from` in an array.
part part_of(const array &of, bool upper, std::uint32_t from, std::uint32_t to) noexcept {
    const std::uintptr_t first = of.begin + (upper ? half_words * of.bytes_a_word : 0);
    const std::uintptr_t begin = first + from * of.bytes_a_word;
    return {from == 0 ? begin / page_size() * page_size() : page_above(begin),
            page_above(first + to * of.bytes_a_word)};
}

// Few tasks stay on small pages. Many tasks are traversed in order and would miss the TLB for each page.
void prefer_huge_descriptors(std::byte *home, part of) noexcept {
    constexpr std::uintptr_t few = tasks_offset + (std::uintptr_t{2} << 20);
    of.begin = std::max(of.begin, few);
    if (of.begin < of.end)
        prefer_huge_pages(home + of.begin, of.end - of.begin);
}

// The first words of a half: those that are used before gaps between tasks are filled. From then on it
// doubles, and adds 64 MiB of descriptors at most: where memory is locked, the kernel fills all of that.
constexpr std::uint32_t first_words = words_in_line, most_words = 8192;

} // namespace

bool half_memory::extend(std::uint32_t to) noexcept {
    FULT_ASSERT(to > usable_ && to <= half_words && to % words_in_line == 0);
    for (std::size_t i = 0; i < std::size(arrays); ++i) {
        const part more = part_of(arrays[i], upper_, usable_, to);
        if (more.begin >= more.end ||
            (is_reserved_ ? make_usable(home_ + more.begin, more.end - more.begin)
                          : map_pages_at(home_ + more.begin, more.end - more.begin)))
            continue;
        const int error = errno;
        while (!is_reserved_ && i-- > 0)
            if (const part done = part_of(arrays[i], upper_, usable_, to); done.begin < done.end)
                unmap_pages(home_ + done.begin, done.end - done.begin);
        errno = error;
        return false;
    }
    if (!is_reserved_ && !upper_)
        prefer_huge_descriptors(home_, part_of(descriptors, false, usable_, to));
    usable_ = to;
    // Another thread learns of a task in these words by relaxed stores, and accesses them.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return true;
}

bool half_memory::grow() noexcept {
    constexpr std::uint32_t patience = 256;
    if (refused_ != 0 && refused_++ % patience != 0) {
        errno = ENOMEM;
        return false;
    }
    const std::uint32_t end =
        std::min(half_words, (limit_ + words_in_line - 1) / words_in_line * words_in_line);
    std::uint32_t more = std::min(usable_ == 0 ? first_words : std::min(usable_, most_words), end - usable_);
    for (; more >= words_in_line; more = more / 2 / words_in_line * words_in_line)
        if (extend(usable_ + more)) {
            refused_ = 0;
            return true;
        }
    refused_ = 1;
    return false;
}

void half_memory::unmap() noexcept {
    FULT_ASSERT(!is_reserved_, "a reserved home is unmapped as a whole");
    for (const array &each : arrays)
        if (usable_ != 0)
            if (const part all = part_of(each, upper_, 0, usable_); all.begin < all.end)
                unmap_pages(home_ + all.begin, all.end - all.begin);
    usable_ = 0;
}

namespace {

// Where the homes of each number were last. A new one goes there again: an emulator keeps books on every
// address that was ever mapped, gigabytes after some hundred runtimes at different addresses.
constinit std::array<std::atomic<std::byte *>, 64> last_places{};

std::byte *reserve_home(unsigned number) noexcept {
    std::atomic<std::byte *> *last = number < last_places.size() ? &last_places[number] : nullptr;
    void *preferred = last ? last->load(std::memory_order_relaxed) : nullptr;
    auto *home = static_cast<std::byte *>(reserve_aligned(home_size, home_size, preferred));
    if (home && last)
        last->store(home, std::memory_order_relaxed);
    return home;
}

// A home whose addresses are reserved. Undone by unmap_home.
bool open_reserved(home_memory &home, std::uint32_t words, unsigned number) noexcept {
    home.begin = reserve_home(number);
    if (!home.begin)
        return false;
    home.is_reserved = true;
    home.lower = half_memory(home.begin, false, words, true);
    home.upper = half_memory(home.begin, true, words, true);
    prefer_huge_descriptors(home.begin, part_of(descriptors, false, 0, words));
    return make_usable(home.begin, page_above(home.worker_bytes)) &&
           make_usable(home.begin + hints_begin, page_above(hints_end) - hints_begin) && home.lower.grow();
}

// The kernel gives addresses downwards. All that the process may still map lies above this one, so homes can
// grow below it. Aligned as a home.
std::uintptr_t below_others() noexcept {
    void *const probe = map_pages(page_size());
    if (!probe)
        return 0;
    unmap_pages(probe, page_size());
    const std::uintptr_t top = address_of(probe);
    constexpr std::uintptr_t usual = std::uintptr_t{1} << 40; // without a limit, or with a small one
    const std::uintptr_t distance =
        has_address_space_limit() ? std::max(usual, std::uintptr_t{address_space_limit()}) : usual;
    return (top - std::min(distance, top / 4)) & home_mask;
}

// A home of which each part is mapped when it becomes usable. Leaves nothing behind if it fails: what lies in
// between may be others'.
bool open_at(home_memory &home, std::byte *at, std::uint32_t words) noexcept {
    // The last page of the lower half's ready bytes is the first of the upper half's: it is left to that.
    words = std::min(words, half_words - 64);
    if (!map_pages_at(at, page_above(home.worker_bytes)))
        return false;
    home.lower = half_memory(at, false, words, false);
    home.upper = half_memory(at, true, words, false);
    const bool has_hints = map_pages_at(at + hints_begin, page_above(hints_end) - hints_begin);
    if (has_hints && home.lower.grow()) {
        home.begin = at;
        home.is_reserved = false;
        return true;
    }
    const int error = errno;
    if (has_hints)
        unmap_pages(at + hints_begin, page_above(hints_end) - hints_begin);
    unmap_pages(at, page_above(home.worker_bytes));
    errno = error;
    return false;
}

bool open_in_parts(home_memory &home, std::uint32_t words, unsigned number) noexcept {
    static const std::uintptr_t top = below_others();
    constexpr unsigned places = 4096; // more than there are homes
    if (top == 0)
        return false;
    for (std::uintptr_t i = number; i < places && (i + 1) * home_size < top; ++i)
        if (open_at(home, at_address<std::byte>(top - (i + 1) * home_size), words))
            return true;
        else if (errno != EEXIST)
            return false;
    return false;
}

} // namespace

home_memory map_home(std::size_t worker_bytes, std::size_t max_tasks, unsigned number, unsigned count) {
    FULT_ASSERT(worker_bytes <= worker_room);
    home_memory home;
    home.worker_bytes = worker_bytes;
    const auto words = static_cast<std::uint32_t>(words_for(max_tasks));
    if (!has_address_space_limit()) {
        if (open_reserved(home, words, number))
            return home;
        unmap_home(home); // another limit, as that on locked memory, may forbid to reserve so much
    }
    if (!open_in_parts(home, words, number))
        throw std::system_error(errno, std::generic_category(),
                                "fult: no memory or address space for a table of tasks; raise `ulimit -v` or "
                                "`ulimit -d`, allow overcommitment, or lower FULT_WORKERS (" +
                                    std::to_string(number + 1) + " of " + std::to_string(count) +
                                    "; one is for foreign threads)");
    return home;
}

void unmap_home(home_memory &home) noexcept {
    if (!home.begin)
        return;
    if (home.is_reserved) {
        unmap_pages(home.begin, home_size);
    } else {
        home.lower.unmap();
        home.upper.unmap();
        unmap_pages(home.begin + hints_begin, page_above(hints_end) - hints_begin);
        unmap_pages(home.begin, page_above(home.worker_bytes));
    }
    home.begin = nullptr;
}

} // namespace fult::detail
