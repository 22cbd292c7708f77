#include "home_memory.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

#include <fult/detail/address.hpp>

#include "fult/base/option_table.hpp"
#include "fult/tasks/public_words.hpp"
#include "slot_allocator.hpp"
#include "virtual_memory.hpp"

namespace fult::detail {
namespace {

constexpr std::size_t words_bytes = std::size_t{96} << 20; // worker, hints and words: below tasks_offset
static_assert(slot_words_offset + (max_slots / 64) * sizeof(slot_word) <= ready_bytes_offset);
static_assert(ready_bytes_offset + max_slots <= words_bytes);
static_assert(max_tasks_limit == slots_in_word * half_words);

// Storage per 64 slots: the descriptors and a part of each of these arrays.
struct array {
    std::uintptr_t begin;
    std::size_t bytes_a_word;
};
constexpr array arrays[] = {
    {runnable_offsets.words, sizeof(shared_word)}, {pinned_offsets.words, sizeof(shared_word)},
    {returned_offsets.words, sizeof(shared_word)}, {slot_words_offset, sizeof(slot_word)},
    {ready_bytes_offset, 64 * sizeof(ready_byte)}, {tasks_offset, 64 * sizeof(task)},
};
constexpr std::size_t head_bytes = std::size_t{2} << 20; // the worker and its hints
static_assert(worker_room <= runnable_offsets.top);
static_assert(returned_offsets.summary + 0x1000 <= head_bytes && head_bytes <= runnable_offsets.words);

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

bool make_pages_usable(std::byte *begin, std::size_t bytes) noexcept {
    const std::size_t before = address_of(begin) % page_size();
    return make_usable(begin - before, bytes + before);
}

// Makes only as much usable as max_tasks needs: memory checkers (Valgrind) take long for each page.
bool make_home_usable(std::byte *home, std::size_t max_tasks) noexcept {
    const std::size_t words = words_for(max_tasks);
    // Few tasks stay on small pages. Many tasks are traversed in order and would miss the TLB for each page.
    constexpr std::size_t few = std::size_t{2} << 20;
    if (words * 64 * sizeof(task) > few)
        prefer_huge_pages(home + tasks_offset + few, words * 64 * sizeof(task) - few);
    if (words == half_words)
        return make_usable(home, words_bytes) && make_usable(home + tasks_offset, max_slots * sizeof(task));
    bool done = make_usable(home, head_bytes);
    for (const array &each : arrays)
        for (const std::size_t half : {std::size_t{0}, std::size_t{half_words}})
            done = done &&
                   make_pages_usable(home + each.begin + half * each.bytes_a_word, words * each.bytes_a_word);
    return done;
}

} // namespace

std::byte *map_home(std::size_t max_tasks, unsigned number, unsigned count) {
    const auto lacks = [&](int error, const std::string &what) {
        throw std::system_error(error, std::generic_category(),
                                "fult: no " + what + " (" + std::to_string(number + 1) + " of " +
                                    std::to_string(count) + "; one is for foreign threads)");
    };
    std::byte *home = reserve_home(number);
    if (!home)
        lacks(errno, "address space for a table of tasks, which needs 4 GiB whatever FULT_MAX_TASKS is, and "
                     "temporarily twice that; raise `ulimit -v`, or lower FULT_WORKERS");
    if (!make_home_usable(home, max_tasks)) {
        const int error = errno;
        unmap_home(home);
        lacks(error,
              "memory for a table of tasks; raise `ulimit -d`, allow overcommitment, or lower FULT_MAX_TASKS "
              "or FULT_WORKERS");
    }
    return home;
}

void unmap_home(void *home) noexcept { unmap_pages(home, home_size); }

} // namespace fult::detail
