// __kmpc_* and kmp_*: memory.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kmp.hpp"

using allocator = std::uintptr_t;

extern "C" {

void *omp_alloc(std::size_t size, allocator a);
void *omp_aligned_alloc(std::size_t align, std::size_t size, allocator a);
void *omp_calloc(std::size_t count, std::size_t size, allocator a);
void *omp_realloc(void *p, std::size_t size, allocator a, allocator from);
void omp_free(void *p, allocator a);
struct allocator_trait;
allocator omp_init_allocator(allocator space, int count, const allocator_trait *traits);
void omp_destroy_allocator(allocator a);
void omp_set_default_allocator(allocator a);
allocator omp_get_default_allocator();

void *__kmpc_alloc(int, std::size_t size, allocator a) { return omp_alloc(size, a); }
void *__kmpc_aligned_alloc(int, std::size_t align, std::size_t size, allocator a) {
    return omp_aligned_alloc(align, size, a);
}
void *__kmpc_calloc(int, std::size_t count, std::size_t size, allocator a) {
    return omp_calloc(count, size, a);
}
void *__kmpc_realloc(int, void *p, std::size_t size, allocator a, allocator from) {
    return omp_realloc(p, size, a, from);
}
void __kmpc_free(int, void *p, allocator a) { omp_free(p, a); }
allocator __kmpc_init_allocator(int, allocator space, int count, const allocator_trait *traits) {
    return omp_init_allocator(space, count, traits);
}
void __kmpc_destroy_allocator(int, allocator a) { omp_destroy_allocator(a); }
void __kmpc_set_default_allocator(int, allocator a) { omp_set_default_allocator(a); }
allocator __kmpc_get_default_allocator(int) { return omp_get_default_allocator(); }

void *kmp_malloc(std::size_t size) { return std::malloc(size); }
// Null unless the alignment is a power of two, as the caller of LLVM's expects.
void *kmp_aligned_malloc(std::size_t size, std::size_t align) {
    if (!std::has_single_bit(align))
        return nullptr;
    return std::aligned_alloc(align, (size + align - 1) / align * align);
}
void *kmp_calloc(std::size_t count, std::size_t size) { return std::calloc(count, size); }
void *kmp_realloc(void *p, std::size_t size) { return std::realloc(p, size); }
void kmp_free(void *p) { std::free(p); }
void *kmpc_malloc(std::size_t size) { return kmp_malloc(size); }
void *kmpc_aligned_malloc(std::size_t size, std::size_t align) { return kmp_aligned_malloc(size, align); }
void *kmpc_calloc(std::size_t count, std::size_t size) { return kmp_calloc(count, size); }
void *kmpc_realloc(void *p, std::size_t size) { return kmp_realloc(p, size); }
void kmpc_free(void *p) { kmp_free(p); }
void *kmp_malloc_(const std::size_t *size) { return kmp_malloc(*size); }
void *kmp_aligned_malloc_(const std::size_t *size, const std::size_t *align) {
    return kmp_aligned_malloc(*size, *align);
}
void *kmp_calloc_(const std::size_t *count, const std::size_t *size) { return kmp_calloc(*count, *size); }
void *kmp_realloc_(void **p, const std::size_t *size) { return kmp_realloc(*p, *size); }
void kmp_free_(void **p) { kmp_free(*p); }

// The numbers of omp.h, as objects for older compilers.
extern const allocator omp_null_allocator, omp_default_mem_alloc, omp_large_cap_mem_alloc,
    omp_const_mem_alloc, omp_high_bw_mem_alloc, omp_low_lat_mem_alloc, omp_cgroup_mem_alloc,
    omp_pteam_mem_alloc, omp_thread_mem_alloc, omp_default_mem_space, omp_large_cap_mem_space,
    omp_const_mem_space, omp_high_bw_mem_space, omp_low_lat_mem_space;
const allocator omp_null_allocator = 0, omp_default_mem_alloc = 1, omp_large_cap_mem_alloc = 2,
                omp_const_mem_alloc = 3, omp_high_bw_mem_alloc = 4, omp_low_lat_mem_alloc = 5,
                omp_cgroup_mem_alloc = 6, omp_pteam_mem_alloc = 7, omp_thread_mem_alloc = 8;
const allocator omp_default_mem_space = 0, omp_large_cap_mem_space = 1, omp_const_mem_space = 2,
                omp_high_bw_mem_space = 3, omp_low_lat_mem_space = 4;

} // extern "C"
