#include "stack_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

#include "fult/base/check.hpp"
#include "fult/base/leak_roots.hpp"
#include "fult/base/sanitizer.hpp"
#include "virtual_memory.hpp"

namespace fult::detail {
namespace {

constexpr std::size_t few = 64; // number of stacks that always stay resident

// Limit of resident idle stacks after a burst: a multiple of those kept permanently, and a part of the
// machine's memory if each stack has touched two pages. All were in use before, so peak memory does not grow.
constexpr std::size_t burst_factor = 32;
constexpr std::size_t burst_part = 16;

std::size_t max_resident(const stack_settings &settings) noexcept {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const std::size_t memory_allows = pages > 0 ? static_cast<std::size_t>(pages) / burst_part / 2 : 0;
    if (settings.trim_after == 0 || settings.kept >= memory_allows)
        return settings.kept;
    return std::min(settings.kept * burst_factor, memory_allows);
}

// The part of an idle stack of another size that stays resident.
constexpr std::size_t kept_of_sized = 256 * 1024;

// Larger stacks are not kept: they hold address space, and their tasks can afford a mapping.
constexpr std::size_t largest_kept = std::size_t{16} << 20;

constexpr int madv_guard_install = 102; // Linux 6.13; not in Debian 12's headers
constexpr int madv_unknown = 0x7eed;

bool guard_by_madvise(void *begin, std::size_t bytes) noexcept {
    return ::madvise(begin, bytes, madv_guard_install) == 0;
}

// madvise guards do not split a mapping. mprotect guards split it in two, and the kernel limits the number of
// mappings.
bool madvise_guards_work() noexcept {
    void *probe = map_pages(page_size());
    // Emulators of system calls ignore advice and return success, even for advice that no kernel knows.
    const bool ignored = probe && ::madvise(probe, page_size(), madv_unknown) == 0;
    const bool works = probe && !ignored && guard_by_madvise(probe, page_size());
    if (probe)
        unmap_pages(probe, page_size());
    return works;
}

std::size_t guard_of(const stack_settings &settings) noexcept {
    constexpr std::size_t least = 64 * 1024; // address space alone
    return settings.guard == guard_mode::none ? 0 : std::max(least, 2 * page_size());
}

// LeakSanitizer reads the list of all mappings for each of them: a thousand take it minutes. It reads all
// that is registered, touched or not: a gigabyte takes it seconds.
constexpr std::size_t most_leak_roots = 64;
constexpr std::size_t leak_root_bytes = 128 * 1024;

// The topmost part of the stack.
std::size_t bytes_for_leaks(const stack &s) noexcept { return std::min(s.usable(), leak_root_bytes); }
const std::byte *begin_for_leaks(const stack &s) noexcept { return s.high() - bytes_for_leaks(s); }

std::size_t mapping_limit() noexcept {
    std::size_t limit = 65530;
    if (std::FILE *file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
        if (std::fscanf(file, "%zu", &limit) != 1)
            limit = 65530;
        std::fclose(file);
    }
    return limit;
}

} // namespace

stack_pool::stack_pool(const stack_settings &settings)
    : settings_(settings),
      guard_(guard_of(settings)),
      max_hot_(max_resident(settings)),
      split_budget_((mapping_limit() - std::min(mapping_limit(), settings.other_mappings)) / 4),
      madvise_guards_(settings.guard != guard_mode::mprotect && settings.guard != guard_mode::none &&
                      madvise_guards_work()) {
    if (settings.guard == guard_mode::madvise && !madvise_guards_)
        warn("FULT_GUARD=madvise needs Linux 6.13 or later; guarding stacks by mprotect");
}

stack_pool::~stack_pool() {
    unmap_kept_sized();
    while (hot_)
        forget(*pop_hot());
    for (const slab &each : slabs_) {
        // later mappings at this address must not inherit the poison
        sanitizer::clean(each.begin, each.bytes);
        unmap_pages(each.begin, each.bytes);
    }
}

const char *stack_pool::guard_name() const noexcept {
    return madvise_guards_ ? "madvise" : settings_.guard == guard_mode::none ? "none" : "mprotect";
}

// Suspended tasks may hold the only pointers to what they have allocated.
void stack_pool::show_to_leak_sanitizer(stack &s) noexcept {
    s.is_leak_root =
        looks_for_leaks() && leak_roots_.fetch_add(1, std::memory_order_relaxed) < most_leak_roots;
    if (s.is_leak_root) // without the guard, which cannot be read
        add_leak_root(begin_for_leaks(s), bytes_for_leaks(s));
}

// By the sanitizers.
void stack_pool::forget(const stack &s) noexcept {
    if (s.is_leak_root)
        remove_leak_root(begin_for_leaks(s), bytes_for_leaks(s));
    leak_roots_.fetch_sub(looks_for_leaks() ? 1 : 0, std::memory_order_relaxed);
    sanitizer::fiber_destroy(s.fiber);
    sanitizer::deregister_stack(s.valgrind_id);
}

// Called under the lock. The kernel may refuse a guard of either kind at any time, for lack of memory.
void stack_pool::protect(stack &s) noexcept {
    FULT_ASSERT(lock_.is_held() && s.guard == 0 && !s.split);
    if (guard_ == 0)
        return;
    if (madvise_guards_ && guard_by_madvise(s.base, guard_)) {
        s.guard = guard_;
    } else if (split_budget_ > 0 && ::mprotect(s.base, guard_, PROT_NONE) == 0) {
        --split_budget_;
        s.guard = guard_;
        s.split = true;
    } else if (!std::exchange(warned_, true)) {
        warn("no more guards of stacks: the kernel's vm.max_map_count limits them; further stacks have none. "
             "Raise it with sysctl, or use Linux 6.13 or later");
    }
}

// Writes the record of a stack whose memory is untouched. Called under the lock.
stack *stack_pool::prepare(std::byte *base, std::size_t bytes) noexcept {
    FULT_ASSERT(lock_.is_held());
    FULT_ASSERT(bytes % page_size() == 0);
    std::byte *at = base + bytes - sizeof(stack);
    sanitizer::clean(base, bytes);
    stack *s = ::new (at) stack;
    s->base = base;
    s->size = bytes;
    s->limit =
        settings_.joins_in_place ? inline_limit(address_of(base) + guard_, address_of(at)) : never_inline;
    s->fiber = sanitizer::fiber_create();
    s->valgrind_id = sanitizer::register_stack(base, at);
    return s;
}

// Reserves addresses for more stacks: for many at once, but where addresses are limited, for a quarter of
// what there is. Called under the lock.
bool stack_pool::reserve_slab() noexcept {
    const std::size_t each = settings_.size + guard_;
    const std::size_t most =
        has_address_space_limit() ? std::clamp<std::size_t>(mapped_ / 4, 1, slab_stacks) : slab_stacks;
    // smaller slabs if addresses are scarce
    for (std::size_t count = most; count > 0; count /= 4) {
        std::size_t bytes = 0;
        if (__builtin_mul_overflow(count, each, &bytes))
            continue;
        auto *begin = static_cast<std::byte *>(reserve_pages(bytes));
        if (!begin)
            continue;
        ::madvise(begin, bytes, MADV_NOHUGEPAGE); // a huge page per stack would be wholly resident
        try {
            slabs_.reserve(slabs_.size() + 1);
            cold_.reserve(mapped_ + count);
        } catch (const std::bad_alloc &) {
            unmap_pages(begin, bytes);
            return false;
        }
        slabs_.push_back({begin, bytes});
        fresh_ = begin;
        fresh_end_ = begin + bytes;
        return true;
    }
    return false;
}

// The next stacks of the slab: one while there are few, as where memory is locked the kernel fills each of
// them. Guards of mprotect just stay inaccessible. Called under the lock.
bool stack_pool::make_more_usable() noexcept {
    if (fresh_ == fresh_end_ && !reserve_slab())
        return false;
    const std::size_t each = settings_.size + guard_;
    const auto left = static_cast<std::size_t>(fresh_end_ - fresh_) / each;
    const bool splits = guard_ != 0 && !madvise_guards_ && split_budget_ > 0;
    const std::size_t count = splits ? 1 : std::clamp<std::size_t>(mapped_ / 8, 1, left);
    const std::size_t below = splits ? guard_ : 0;
    if (!make_usable(fresh_ + below, count * each - below))
        return false;
    for (std::size_t i = count; i-- > 0;)
        cold_.push_back(fresh_ + i * each); // has room: reserve_slab
    fresh_ += count * each;
    mapped_ += count;
    return true;
}

// Called under the lock.
stack *stack_pool::pop_hot() noexcept {
    stack *const s = hot_;
    hot_ = s->next;
    min_hot_ = std::min(min_hot_, --hot_count_);
    return s;
}

stack *stack_pool::acquire(std::size_t count) noexcept {
    const std::lock_guard guard(lock_);
    return take(count);
}

stack *stack_pool::acquire_some() noexcept {
    constexpr std::size_t most = 8;
    const std::lock_guard guard(lock_);
    return take(std::clamp<std::size_t>(std::max(hot_count_, mapped_ / 8), 1, most));
}

// Called under the lock.
stack *stack_pool::take(std::size_t count) noexcept {
    FULT_ASSERT(is_consistent());
    stack *chain = nullptr;
    for (; count > 0; --count) {
        stack *s;
        if (hot_) {
            s = pop_hot();
        } else if (!cold_.empty() || make_more_usable()) {
            std::byte *base = cold_.back();
            cold_.pop_back();
            s = prepare(base, settings_.size + guard_);
            protect(*s); // again after a discard: cheap, and independent of what the kernel kept
            show_to_leak_sanitizer(*s);
        } else {
            break;
        }
        s->next = chain;
        chain = s;
    }
    return chain;
}

void stack_pool::release(stack *chain) noexcept {
    const std::lock_guard guard(lock_);
    FULT_ASSERT(is_consistent());
    while (chain) {
        stack *s = std::exchange(chain, chain->next);
        if (hot_count_ < max_hot_) {
            s->next = std::exchange(hot_, s);
            ++hot_count_;
        } else {
            discard(s);
        }
    }
    if (settings_.trim_after != 0)
        trim_surplus();
}

// Called under the lock.
void stack_pool::discard(stack *s) noexcept {
    FULT_ASSERT(lock_.is_held() && cold_.size() < cold_.capacity(), "no allocation here");
    forget(*s);
    std::byte *base = s->base;
    const bool split = s->split; // read before its record is discarded
    discard_pages(s->low(), s->usable());
    split_budget_ += split ? 1 : 0; // its guard stays, and is counted again when the stack is reused
    cold_.push_back(base);          // never allocates: reserve_slab has reserved an entry for each stack
}

// Called under the lock.
void stack_pool::keep_hot(std::size_t most) noexcept {
    FULT_ASSERT(lock_.is_held());
    while (hot_count_ > most)
        discard(pop_hot());
}

// Called under the lock. Stacks that were not taken for a while are surplus: all of them beyond
// settings_.kept are discarded, and half of the others, a bounded number at a time so that the lock is not
// held for long.
void stack_pool::trim_surplus() noexcept {
    FULT_ASSERT(lock_.is_held());
    constexpr std::size_t at_once = 128, max_of_kept = 512;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_trim_ >= std::chrono::milliseconds(settings_.trim_after)) {
        last_trim_ = now;
        const std::size_t unused = min_hot_ > few ? min_hot_ - few : 0;
        const std::size_t beyond =
            hot_count_ > settings_.kept ? std::min(unused, hot_count_ - settings_.kept) : 0;
        surplus_ = beyond + std::min((unused - beyond + 1) / 2, max_of_kept);
        min_hot_ = hot_count_;
    }
    const std::size_t now_surplus = std::min({surplus_, hot_count_, at_once});
    surplus_ -= now_surplus;
    keep_hot(hot_count_ - now_surplus);
}

std::size_t stack_pool::mapped() const noexcept {
    const std::lock_guard hold(lock_);
    return mapped_;
}

std::size_t stack_pool::resident_idle() const noexcept {
    const std::lock_guard hold(lock_);
    return hot_count_;
}

void stack_pool::trim() noexcept {
    lock_.lock();
    keep_hot(few);
    lock_.unlock();
    unmap_kept_sized();
}

void stack_pool::unmap_kept_sized() noexcept {
    stack *kept[max_sized];
    lock_.lock();
    const std::size_t count = std::exchange(sized_count_, 0);
    std::copy_n(sized_, count, kept);
    lock_.unlock();
    for (std::size_t i = 0; i < count; ++i)
        unmap_sized(kept[i]);
}

stack *stack_pool::acquire_sized(std::size_t bytes) noexcept {
    const std::size_t page = page_size();
    bytes = (bytes + page - 1) / page * page + guard_;
    if (stack *s = take_kept_sized(bytes))
        return s;
    auto *base = static_cast<std::byte *>(map_pages(bytes));
    if (!base) {
        unmap_kept_sized();
        base = static_cast<std::byte *>(map_pages(bytes));
    }
    if (!base)
        return nullptr;
    const std::lock_guard guard(lock_);
    stack *s = prepare(base, bytes);
    protect(*s);
    show_to_leak_sanitizer(*s);
    return s;
}

// Called under the lock.
stack *stack_pool::take_sized_at(std::size_t i) noexcept {
    stack *const s = sized_[i];
    std::copy(sized_ + i + 1, sized_ + sized_count_, sized_ + i);
    --sized_count_;
    return s;
}

// Takes the one that was released last.
stack *stack_pool::take_kept_sized(std::size_t bytes) noexcept {
    const std::lock_guard guard(lock_);
    for (std::size_t i = sized_count_; i-- > 0;)
        if (sized_[i]->size == bytes)
            return take_sized_at(i);
    return nullptr;
}

void stack_pool::release_sized(stack *s) noexcept {
    if (s->usable() > largest_kept)
        return unmap_sized(s);
    if (s->usable() > kept_of_sized)
        discard_pages(s->low(), s->usable() - kept_of_sized);
    stack *surplus = nullptr;
    lock_.lock();
    if (sized_count_ == max_sized)
        surplus = take_sized_at(0);
    sized_[sized_count_++] = s;
    FULT_ASSERT(is_consistent());
    lock_.unlock();
    if (surplus)
        unmap_sized(surplus);
}

void stack_pool::unmap_sized(stack *s) noexcept {
    forget(*s);
    const bool split = s->split; // read before its record is unmapped
    sanitizer::clean(s->base, s->size);
    unmap_pages(s->base, s->size);
    const std::lock_guard guard(lock_);
    split_budget_ += split ? 1 : 0;
}

} // namespace fult::detail
