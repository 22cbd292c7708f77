#include "reductions.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include <fult/detail/assertion.hpp>

#include "error.hpp"
#include "private_copies.hpp"
#include "team.hpp"

namespace fult::omp {
namespace {

enum : std::size_t { variables = 0, bytes = 1, memory = 2, next = 4, end = 6, first_variable = 7 };

std::uintptr_t *next_of(const std::uintptr_t *d) noexcept {
    return reinterpret_cast<std::uintptr_t *>(d[next]);
}

// Finds the reduction of `pointer`: an original address, or an address in any thread's part.
struct found {
    const std::uintptr_t *descriptor = nullptr;
    std::uintptr_t offset = 0;
    void *original = nullptr;
};

found find(const std::uintptr_t *d, std::uintptr_t pointer) noexcept {
    for (const std::uintptr_t *each = d; each; each = next_of(each)) {
        const bool in_part = pointer >= each[memory] && pointer < each[end];
        const std::uintptr_t offset = in_part ? (pointer - each[memory]) % each[bytes] : 0;
        for (std::size_t i = 0; i < each[variables]; ++i) {
            const std::uintptr_t *v = each + first_variable + 3 * i;
            if (in_part ? v[1] == offset : v[0] == pointer)
                return {each, v[1], reinterpret_cast<void *>(v[0])};
        }
        if (in_part)
            return {each, offset, nullptr};
    }
    return {};
}

} // namespace

void register_reductions(void *&list, std::uintptr_t *descriptors, unsigned threads) {
    std::uintptr_t *last = descriptors;
    for (std::uintptr_t *d = descriptors; d; last = d, d = next_of(d)) {
        const std::size_t align = std::max<std::size_t>(d[memory], alignof(std::max_align_t));
        FULT_ASSERT(std::has_single_bit(align) && d[bytes] != 0 && threads != 0);
        const std::size_t size = (d[bytes] * threads + align - 1) / align * align;
        void *const at = std::aligned_alloc(align, std::max(size, align));
        if (!at)
            fail("no memory for the %zu bytes of a reduction", size);
        std::memset(at, 0, size);
        d[memory] = reinterpret_cast<std::uintptr_t>(at);
        d[end] = d[memory] + d[bytes] * threads;
    }
    last[next] = reinterpret_cast<std::uintptr_t>(list);
    list = descriptors;
}

void share_reductions(void *&list, std::uintptr_t *descriptors, const std::uintptr_t *with) noexcept {
    std::uintptr_t *last = descriptors;
    for (std::uintptr_t *d = descriptors; d != with && d; last = d, d = next_of(d), with = next_of(with)) {
        FULT_ASSERT(d[variables] == with[variables] && d[bytes] == with[bytes], "of the same construct");
        d[memory] = with[memory];
        d[end] = with[end];
    }
    if (descriptors != with)
        last[next] = reinterpret_cast<std::uintptr_t>(list);
    list = descriptors;
}

void free_reductions(std::uintptr_t *descriptors) noexcept {
    for (std::uintptr_t *d = descriptors; d; d = next_of(d)) {
        std::free(reinterpret_cast<void *>(d[memory]));
        d[memory] = 0;
    }
}

void remap_reductions(const omp_task *me, std::size_t count, std::size_t originals, void **pointers) {
    const unsigned thread = me->self ? me->self->number : 0;
    FULT_ASSERT(originals <= count && (!me->self || thread < me->in()->size));
    for (std::size_t i = 0; i < count; ++i) {
        found f;
        const auto look = [&](const void *list) {
            f = find(static_cast<const std::uintptr_t *>(list),
                     reinterpret_cast<std::uintptr_t>(pointers[i]));
        };
        const child_counter *s = me->innermost;
        for (const omp_task *task = me; task && !f.descriptor; s = task->counted_in, task = task->parent) {
            for (; s && !f.descriptor; s = s->outer)
                if (s->outer && !copies_of(s))
                    look(static_cast<const group_counter *>(s)->reductions);
            if (!f.descriptor && task->has(is_implicit))
                look(task->self->reductions);
        }
        if (!f.descriptor)
            fail("a task has in_reduction for %p, which no enclosing taskgroup or construct reduces",
                 pointers[i]);
        pointers[i] =
            reinterpret_cast<void *>(f.descriptor[memory] + f.descriptor[bytes] * thread + f.offset);
        if (i < originals)
            pointers[count + i] = f.original;
    }
}

} // namespace fult::omp
