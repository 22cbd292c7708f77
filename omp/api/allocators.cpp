// The omp_* functions of memory: plain memory of malloc, with the traits alignment, pool_size and fallback.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <fult/detail/assertion.hpp>

#include "omp/core/control.hpp"
#include "omp/core/error.hpp"
#include "omp/core/icv.hpp"

using namespace fult::omp;

namespace {

using handle = std::uintptr_t;
constexpr handle null_allocator = 0, default_allocator = 1, last_predefined = 8;

struct trait {
    int key;
    std::uintptr_t value;
};
static_assert(sizeof(trait) == 16 && offsetof(trait, value) == 8, "omp_alloctrait_t");
enum trait_key : int { alignment_key = 2, pool_size_key = 4, fallback_key = 5, data_key = 6, pinned_key = 7 };
enum class on_failure : std::uintptr_t { default_memory = 11, null = 12, abort = 13, other_allocator = 14 };
constexpr std::uintptr_t default_value = ~std::uintptr_t{0};

// What a program's own handle points to.
struct allocator {
    std::size_t alignment = 1;
    std::size_t pool = SIZE_MAX;
    on_failure fallback = on_failure::default_memory;
    handle other = null_allocator;
    std::atomic<std::size_t> used{0};

    // A pool holds the headers as well, as those of the compilers' libraries do.
    bool reserve(std::size_t size) noexcept {
        if (pool == SIZE_MAX)
            return true;
        std::size_t before = used.load(std::memory_order_relaxed);
        FULT_ASSERT(before <= pool);
        do
            if (size > pool - before)
                return false;
        while (!used.compare_exchange_weak(before, before + size, std::memory_order_relaxed));
        return true;
    }
    void give_back(std::size_t size) noexcept {
        if (pool == SIZE_MAX)
            return;
        [[maybe_unused]] const std::size_t before = used.fetch_sub(size, std::memory_order_relaxed);
        FULT_ASSERT(before >= size, "what was reserved is given back once");
    }
};

allocator *own(handle h) noexcept { return h > last_predefined ? reinterpret_cast<allocator *>(h) : nullptr; }

// In front of what omp_alloc returns.
struct alignas(16) header {
    void *block;
    std::size_t size;
    handle from;
};
static_assert(sizeof(header) == 32, "what follows it is aligned as it is");
static_assert(alignof(std::max_align_t) <= alignof(header));
header &header_of(void *p) noexcept { return static_cast<header *>(p)[-1]; }
// What it takes of a pool; SIZE_MAX fits in none.
std::size_t with_header(std::size_t size) noexcept {
    return size > SIZE_MAX - sizeof(header) ? SIZE_MAX : size + sizeof(header);
}

void *allocate_plain(std::size_t align, std::size_t size, handle from) {
    FULT_ASSERT(align != 0 && (align & (align - 1)) == 0);
    align = std::max(align, alignof(header));
    if (size > SIZE_MAX / 2 - align)
        return nullptr;
    void *const block = std::malloc(size + align + sizeof(header));
    if (!block)
        return nullptr;
    const auto at = (reinterpret_cast<std::uintptr_t>(block) + sizeof(header) + align - 1) & ~(align - 1);
    reinterpret_cast<header *>(at)[-1] = {block, size, from};
    return reinterpret_cast<void *>(at);
}

void *allocate(std::size_t align, std::size_t size, handle from);

void *fall_back(const allocator &a, std::size_t align, std::size_t size) {
    switch (a.fallback) {
    case on_failure::null:
        return nullptr;
    case on_failure::abort:
        fail("an allocator cannot provide %zu bytes", size);
    case on_failure::other_allocator:
        return allocate(align, size, a.other);
    default:
        return allocate_plain(std::max(align, a.alignment), size, default_allocator);
    }
}

void *allocate(std::size_t align, std::size_t size, handle from) {
    if (size == 0)
        return nullptr;
    if (from == null_allocator)
        from = current_task()->icvs()->allocator;
    allocator *const a = own(from);
    if (!a)
        return allocate_plain(align, size, from);
    if (!a->reserve(with_header(size)))
        return fall_back(*a, align, size);
    if (void *const p = allocate_plain(std::max(align, a->alignment), size, from))
        return p;
    a->give_back(with_header(size));
    return fall_back(*a, align, size);
}

// False: no allocator can have this trait.
bool apply(allocator &a, const trait &t) noexcept {
    const bool is_default = t.value == default_value;
    switch (t.key) {
    case alignment_key:
        a.alignment = is_default ? 1 : t.value;
        return is_default || (t.value != 0 && (t.value & (t.value - 1)) == 0);
    case pool_size_key:
        a.pool = is_default ? SIZE_MAX : t.value;
        return a.pool != 0;
    case fallback_key:
        a.fallback = is_default ? on_failure::default_memory : static_cast<on_failure>(t.value);
        return a.fallback >= on_failure::default_memory && a.fallback <= on_failure::other_allocator;
    case data_key:
        a.other = t.value;
        return true;
    case pinned_key:
        return t.value != 1; // memory is never pinned
    default:
        return t.key >= 1 && t.key <= 8; // hints
    }
}

} // namespace

extern "C" {

handle omp_init_allocator(handle, int count, const trait *traits) {
    auto *const a = new allocator;
    for (int i = 0; i < count; ++i)
        if (!apply(*a, traits[i])) {
            delete a;
            return null_allocator;
        }
    return reinterpret_cast<handle>(a);
}
void omp_destroy_allocator(handle h) { delete own(h); }
void omp_set_default_allocator(handle h) {
    change_icvs([h](icv_set &v) { v.allocator = h == null_allocator ? default_allocator : h; });
}
handle omp_get_default_allocator() { return current_task()->icvs()->allocator; }

void *omp_aligned_alloc(std::size_t align, std::size_t size, handle from) {
    return align == 0 || (align & (align - 1)) != 0 ? nullptr : allocate(align, size, from);
}
void *omp_alloc(std::size_t size, handle from) { return allocate(1, size, from); }
void *omp_aligned_calloc(std::size_t align, std::size_t count, std::size_t size, handle from) {
    if (size != 0 && count > SIZE_MAX / size)
        return nullptr;
    void *const p = omp_aligned_alloc(align, count * size, from);
    return p ? std::memset(p, 0, count * size) : nullptr;
}
void *omp_calloc(std::size_t count, std::size_t size, handle from) {
    return omp_aligned_calloc(1, count, size, from);
}
void omp_free(void *p, handle) {
    if (!p)
        return;
    const header h = header_of(p);
    if (allocator *const a = own(h.from))
        a->give_back(with_header(h.size));
    std::free(h.block);
}
void *omp_realloc(void *p, std::size_t size, handle to, handle from) {
    if (!p)
        return omp_alloc(size, to);
    if (size == 0) {
        omp_free(p, from);
        return nullptr;
    }
    const header before = header_of(p);
    if (to == null_allocator)
        to = before.from;
    allocator *const a = to == before.from ? own(to) : nullptr;
    // within an allocator's pool, the new memory takes the place of the old
    const std::size_t more = size > before.size ? size - before.size : 0;
    if (a && a->reserve(more)) {
        if (void *const fresh = allocate_plain(a->alignment, size, to)) {
            std::memcpy(fresh, p, std::min(before.size, size));
            std::free(before.block);
            a->give_back(before.size + more - size);
            return fresh;
        }
        a->give_back(more);
    }
    void *const fresh = a ? fall_back(*a, 1, size) : omp_alloc(size, to);
    if (fresh) {
        std::memcpy(fresh, p, std::min(before.size, size));
        omp_free(p, from);
    }
    return fresh;
}

} // extern "C"
