// GOMP_*: target regions fall back to the host, as they do without a device.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "gnu.hpp"
#include "omp/core/depend.hpp"
#include "omp/core/error.hpp"
#include "omp/core/taskgroup.hpp"

using namespace fult::omp;

namespace {

// Copies of the firstprivate variables of a target region, in place of the addresses of the originals.
class private_copies {
  public:
    private_copies(std::size_t count, void **addresses, const std::size_t *sizes,
                   const unsigned short *kinds) {
        constexpr unsigned kind_mask = 0xff, firstprivate = 12;
        for (std::size_t i = 0; i < count; ++i) {
            if ((kinds[i] & kind_mask) != firstprivate || !addresses[i]) // null: an absent argument
                continue;
            const std::size_t align = std::max<std::size_t>(std::size_t{1} << (kinds[i] >> 8), 16);
            void *const copy = std::aligned_alloc(align, (sizes[i] + align) / align * align);
            if (!copy)
                fail("no memory for the %zu bytes of a firstprivate variable", sizes[i]);
            std::memcpy(copy, addresses[i], sizes[i]);
            memory_.emplace_back(copy, &std::free);
            addresses[i] = copy;
        }
    }

  private:
    std::vector<std::unique_ptr<void, void (*)(void *)>> memory_;
};

// Of the region's arguments: words of an identifier and its value, which may be in the next word.
unsigned thread_limit_of(void **arguments) {
    constexpr std::uintptr_t in_next = 1u << 7, what = 0xff00, thread_limit = 2u << 8;
    for (void **at = arguments; at && *at; ++at) {
        const auto word = reinterpret_cast<std::intptr_t>(*at);
        const auto id = static_cast<std::uintptr_t>(word);
        const std::intptr_t value = (id & in_next) != 0 ? reinterpret_cast<std::intptr_t>(*++at) : word >> 16;
        if ((id & what) == thread_limit && value > 0)
            return static_cast<unsigned>(std::min<std::intptr_t>(value, 0x7fffffff));
    }
    return 0;
}

struct depend_object { // omp_depend_t
    void *address;
    std::uintptr_t kind;
};
static_assert(sizeof(depend_object) == 16);

extern "C" void GOMP_taskwait_depend(void **depend);

// The wait of a task that depends on them, in the form of a depend clause: a zero, how many there are, and
// how many of them are of each kind and no objects.
void await_objects(int count, depend_object *objects) {
    if (count <= 0)
        return;
    std::vector<void *> clause{nullptr, reinterpret_cast<void *>(static_cast<std::uintptr_t>(count)), nullptr,
                               nullptr, nullptr};
    for (int i = 0; i < count; ++i)
        clause.push_back(objects + i);
    GOMP_taskwait_depend(clause.data());
}

// The error directive. The length is SIZE_MAX for a text that ends with a zero.
void report_directive(const char *severity, const char *text, std::size_t length) {
    const int most = static_cast<int>(std::min<std::size_t>(length, 0x7fffffff));
    warn("%serror directive encountered%s%.*s", severity, text ? ": " : "", text ? most : 0,
         text ? text : "");
}

} // namespace

extern "C" {
void GOMP_target(int, void (*fn)(void *), const void *, std::size_t, void **addresses, std::size_t *,
                 unsigned char *) {
    run_target(fn, addresses);
}
void GOMP_target_ext(int, void (*fn)(void *), std::size_t count, void **addresses, std::size_t *sizes,
                     unsigned short *kinds, unsigned, void **depend, void **arguments) {
    if (depend)
        GOMP_taskwait_depend(depend);
    const private_copies copies(count, addresses, sizes, kinds);
    run_target(fn, addresses, thread_limit_of(arguments));
}
void GOMP_target_data(int, const void *, std::size_t, void **, std::size_t *, unsigned char *) {}
void GOMP_target_data_ext(int, std::size_t, void **, std::size_t *, unsigned short *) {}
void GOMP_target_end_data() {}
void GOMP_target_update(int, const void *, std::size_t, void **, std::size_t *, unsigned char *) {}
void GOMP_target_update_ext(int, std::size_t, void **, std::size_t *, unsigned short *, unsigned,
                            void **depend) {
    if (depend)
        GOMP_taskwait_depend(depend);
}
void GOMP_target_enter_exit_data(int, std::size_t, void **, std::size_t *, unsigned short *, unsigned,
                                 void **depend) {
    if (depend)
        GOMP_taskwait_depend(depend);
}
void GOMP_offload_register_ver(unsigned, const void *, int, const void *) {}
void GOMP_offload_register(const void *, int, const void *) {}
void GOMP_offload_unregister_ver(unsigned, const void *, int, const void *) {}
void GOMP_offload_unregister(const void *, int, const void *) {}

// The copy is made at once: no processor but this one would do it meanwhile.
int omp_target_memcpy(void *to, const void *from, std::size_t n, std::size_t to_offset,
                      std::size_t from_offset, int to_device, int from_device);
int omp_target_memcpy_rect(void *to, const void *from, std::size_t element, int dimensions,
                           const std::size_t *volume, const std::size_t *to_offsets,
                           const std::size_t *from_offsets, const std::size_t *to_dimensions,
                           const std::size_t *from_dimensions, int to_device, int from_device);
int omp_target_memcpy_async(void *to, const void *from, std::size_t n, std::size_t to_offset,
                            std::size_t from_offset, int to_device, int from_device, int count,
                            depend_object *objects) {
    await_objects(count, objects);
    return omp_target_memcpy(to, from, n, to_offset, from_offset, to_device, from_device);
}
int omp_target_memcpy_rect_async(void *to, const void *from, std::size_t element, int dimensions,
                                 const std::size_t *volume, const std::size_t *to_offsets,
                                 const std::size_t *from_offsets, const std::size_t *to_dimensions,
                                 const std::size_t *from_dimensions, int to_device, int from_device,
                                 int count, depend_object *objects) {
    if (to || from) // else it asks for the number of dimensions
        await_objects(count, objects);
    return omp_target_memcpy_rect(to, from, element, dimensions, volume, to_offsets, from_offsets,
                                  to_dimensions, from_dimensions, to_device, from_device);
}

void *omp_aligned_alloc(std::size_t align, std::size_t size, std::uintptr_t allocator);
void omp_free(void *p, std::uintptr_t allocator);
void *GOMP_alloc(std::size_t align, std::size_t size, std::uintptr_t allocator) {
    void *const p = omp_aligned_alloc(align, size ? size : 1, allocator);
    if (!p)
        fail("no memory for the %zu bytes of an allocate clause", size);
    return p;
}
void GOMP_free(void *p, std::uintptr_t allocator) { omp_free(p, allocator); }

void GOMP_warning(const char *text, std::size_t length) { report_directive("", text, length); }
[[noreturn]] void GOMP_error(const char *text, std::size_t length) {
    report_directive("fatal error: ", text, length);
    std::exit(EXIT_FAILURE);
}
}
