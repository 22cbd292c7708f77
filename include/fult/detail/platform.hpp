// Everything that depends on the processor, the compiler or the thread-local storage model.
#pragma once

#include <fult/detail/language.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

#ifndef FULT_API
#define FULT_API __attribute__((visibility("default")))
#endif
#define FULT_NOINLINE __attribute__((noinline))
#define FULT_COLD __attribute__((noinline, cold))
// The compiler must emit a call and must assume nothing about the body, even in link-time optimization.
#if defined(__clang__)
#define FULT_OPAQUE __attribute__((noinline))
#else
#define FULT_OPAQUE __attribute__((noipa))
#endif
#define FULT_ALWAYS_INLINE inline __attribute__((always_inline))
// A function of this source, with C linkage, is also exported as "name@version".
#define FULT_SYMBOL_VERSION(function, name_and_version) __asm__(".symver " #function ", " name_and_version)

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FULT_CLANG_TSAN 1
#endif
#endif

namespace fult::detail {
struct worker_hot;
struct local_values;

inline constexpr std::size_t cache_line = 64;
} // namespace fult::detail

// The worker of this kernel thread; on a foreign thread an empty one (no_worker in worker.cpp). The
// initial-exec model makes reading it two instructions, also from outside the shared library. fult_tls_locals
// are the values of the running task, if cached (cached_locals).
extern "C" {
extern FULT_API __thread fult::detail::worker_hot *fult_tls_worker __attribute__((tls_model("initial-exec")));
extern FULT_API __thread const fult::detail::local_values *fult_tls_locals
    __attribute__((tls_model("initial-exec")));
}

namespace fult::detail {

// Two reads of a whole cache line that other threads change by atomic operations. Each word is loaded once,
// in unspecified order, with acquire semantics, and is not moved across atomic operations before and after.
// Compilers do not combine atomic loads; on x86 every load is an acquire, and each half of a vector is loaded
// as one.

// True if the line is zero.
FULT_ALWAYS_INLINE bool line_is_zero(const void *line) noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(FULT_CLANG_TSAN)
    unsigned zero_bytes;
    asm volatile("movdqa (%[line]), %%xmm0\n\t"
                 "por 16(%[line]), %%xmm0\n\t"
                 "por 32(%[line]), %%xmm0\n\t"
                 "por 48(%[line]), %%xmm0\n\t"
                 "pxor %%xmm1, %%xmm1\n\t"
                 "pcmpeqb %%xmm1, %%xmm0\n\t"
                 "pmovmskb %%xmm0, %[zero_bytes]"
                 : [zero_bytes] "=r"(zero_bytes)
                 : [line] "r"(line)
                 : "xmm0", "xmm1", "memory");
    return zero_bytes == 0xffff;
#else
    using eight [[gnu::may_alias]] = std::uint64_t;
    std::uint64_t seen = 0;
    for (unsigned i = 0; i < cache_line / sizeof(eight); ++i)
        seen |= __atomic_load_n(static_cast<const eight *>(line) + i, __ATOMIC_SEQ_CST);
    return seen == 0;
#endif
}

// The bytes of the line, each 0 or 1, as bits.
FULT_ALWAYS_INLINE std::uint64_t low_bits_of_line(const void *line) noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(FULT_CLANG_TSAN)
    unsigned quarter[4]; // the lowest bit of each byte becomes its highest, which pmovmskb gathers
    asm volatile(
        "movdqa (%[line]), %%xmm0\n\t"
        "movdqa 16(%[line]), %%xmm1\n\t"
        "psllw $7, %%xmm0\n\t"
        "psllw $7, %%xmm1\n\t"
        "pmovmskb %%xmm0, %[q0]\n\t"
        "pmovmskb %%xmm1, %[q1]\n\t"
        "movdqa 32(%[line]), %%xmm0\n\t"
        "movdqa 48(%[line]), %%xmm1\n\t"
        "psllw $7, %%xmm0\n\t"
        "psllw $7, %%xmm1\n\t"
        "pmovmskb %%xmm0, %[q2]\n\t"
        "pmovmskb %%xmm1, %[q3]"
        : [q0] "=&r"(quarter[0]), [q1] "=&r"(quarter[1]), [q2] "=&r"(quarter[2]), [q3] "=&r"(quarter[3])
        : [line] "r"(line)
        : "xmm0", "xmm1", "memory");
    return quarter[0] | std::uint64_t{quarter[1]} << 16 | std::uint64_t{quarter[2]} << 32 |
           std::uint64_t{quarter[3]} << 48;
#else
    using eight [[gnu::may_alias]] = std::uint64_t;
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < cache_line / sizeof(eight); ++i) // a multiplication gathers eight lowest bits
        bits |= (__atomic_load_n(static_cast<const eight *>(line) + i, __ATOMIC_ACQUIRE) *
                     0x0102'0408'1020'4080u >>
                 56)
                << (8 * i);
    return bits;
#endif
}

// Gives the object a value that the compiler does not know: what the memory holds. No instruction.
template <class T> FULT_ALWAYS_INLINE void take_over(T &object) noexcept { asm("" : "=m"(object)); }

// A suspended task may resume on a different thread, so the compiler must never keep the address of a
// thread-local variable across a call. A volatile asm statement is evaluated each time; an accessor out of
// line would be correct too, but costs a call on the paths of spawn and join.
FULT_ALWAYS_INLINE worker_hot *current_worker() noexcept {
    worker_hot *self;
#if defined(__x86_64__)
    asm volatile("movq fult_tls_worker@gottpoff(%%rip), %0\n\t"
                 "movq %%fs:(%0), %0"
                 : "=r"(self)
                 :
                 : "memory");
#elif defined(__aarch64__)
    std::uintptr_t offset;
    asm volatile("adrp %1, :gottprel:fult_tls_worker\n\t"
                 "ldr %1, [%1, :gottprel_lo12:fult_tls_worker]\n\t"
                 "mrs %0, tpidr_el0\n\t"
                 "ldr %0, [%0, %1]"
                 : "=&r"(self), "=&r"(offset)
                 :
                 : "memory");
#else
#error "FULT runs on x86-64 and aarch64"
#endif
    return self;
}

// The offset of fult_tls_locals in the thread-local storage: the same on every thread, so a compiler may keep
// it.
FULT_ALWAYS_INLINE std::uintptr_t offset_of_cached_locals() noexcept {
    std::uintptr_t offset;
#if defined(__x86_64__)
    asm("movq fult_tls_locals@gottpoff(%%rip), %0" : "=r"(offset));
#else
    asm("adrp %0, :gottprel:fult_tls_locals\n\t"
        "ldr %0, [%0, :gottprel_lo12:fult_tls_locals]"
        : "=r"(offset));
#endif
    return offset;
}
// The values of the task that runs on this thread, or no_locals: then they are not cached, and get_far_local
// looks them up.
FULT_ALWAYS_INLINE const local_values *cached_locals() noexcept {
    const local_values *known;
#if defined(__x86_64__)
    asm volatile("movq %%fs:(%1), %0" : "=r"(known) : "r"(offset_of_cached_locals()) : "memory");
#else
    asm volatile("mrs %0, tpidr_el0\n\t"
                 "ldr %0, [%0, %1]"
                 : "=&r"(known)
                 : "r"(offset_of_cached_locals())
                 : "memory");
#endif
    return known;
}
// For cache_locals alone.
FULT_ALWAYS_INLINE void set_cached_locals(const local_values *values) noexcept {
#if defined(__x86_64__)
    asm volatile("movq %1, %%fs:(%0)" : : "r"(offset_of_cached_locals()), "r"(values) : "memory");
#else
    std::uintptr_t thread;
    asm volatile("mrs %0, tpidr_el0\n\t"
                 "str %2, [%0, %1]"
                 : "=&r"(thread)
                 : "r"(offset_of_cached_locals()), "r"(values)
                 : "memory");
#endif
}

// Identifies a kernel thread: an address of its own. Evaluated each time, as above: to the compiler the
// address of a thread_local variable is a constant, which it keeps across a suspension.
FULT_ALWAYS_INLINE const void *this_thread() noexcept {
    const void *self;
#if defined(__x86_64__)
    asm volatile("movq %%fs:0, %0" : "=r"(self) : : "memory");
#else
    asm volatile("mrs %0, tpidr_el0" : "=r"(self) : : "memory");
#endif
    return self;
}

// The stack pointer, without forcing a frame pointer on the caller.
FULT_ALWAYS_INLINE std::uintptr_t stack_pointer() noexcept {
    std::uintptr_t sp;
#if defined(__x86_64__)
    asm("movq %%rsp, %0" : "=r"(sp));
#else
    asm("mov %0, sp" : "=r"(sp));
#endif
    return sp;
}

// True if the stack pointer is below the limit: one comparison with memory.
FULT_ALWAYS_INLINE bool stack_below(const std::uintptr_t &limit) noexcept {
#if defined(__x86_64__)
    bool below;
    asm("cmpq %1, %%rsp" : "=@ccb"(below) : "m"(limit));
    return below;
#else
    return stack_pointer() < limit;
#endif
}

// A relaxed load and test in one instruction. Compilers do not generate this from an atomic load.
template <class T> FULT_ALWAYS_INLINE bool is_set(const std::atomic<T> &value) noexcept {
    static_assert(sizeof(T) == 1 || sizeof(T) == 4);
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(FULT_CLANG_TSAN)
    bool set;
    if constexpr (sizeof(T) == 1)
        asm volatile("cmpb $0, %1" : "=@ccne"(set) : "m"(value));
    else
        asm volatile("cmpl $0, %1" : "=@ccne"(set) : "m"(value));
    return set;
#else
    return value.load(std::memory_order_relaxed) != 0;
#endif
}

// Increments a word that only the calling thread writes, without an atomic read-modify-write. Compilers
// generate three instructions from a relaxed load and store.
FULT_ALWAYS_INLINE void increment_own(std::atomic<std::int64_t> &value) noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(FULT_CLANG_TSAN)
    asm volatile("incq %0" : "+m"(value) : : "cc");
#else
    value.store(value.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
#endif
}

// Hints to the core that this is a polling loop.
FULT_ALWAYS_INLINE void cpu_relax() noexcept {
#if defined(__x86_64__)
    asm volatile("pause");
#else
    asm volatile("yield");
#endif
}

// Two words, passed in registers by the System V and the Arm procedure call standards.
struct two_words {
    void *first;
    void *second;
};

// Calls a function that returns by an indirect jump, not by a return instruction: a context switch. A call
// instruction would leave its return address in the return predictor, and every later return would be
// mispredicted.
FULT_ALWAYS_INLINE two_words call_that_jumps_back(void *function, void *first, void *second) noexcept {
#if defined(__x86_64__)
    two_words out;
    asm volatile("leaq -128(%%rsp), %%rsp\n\t" // the red zone
                 "leaq 1f(%%rip), %%rax\n\t"
                 "pushq %%rax\n\t"
                 "jmp *%%rcx\n"
                 "1:\n\t"
                 "leaq 128(%%rsp), %%rsp"
                 : "=a"(out.first), "=d"(out.second), "+D"(first), "+S"(second), "+c"(function)
                 :
                 : "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
    return out;
#else
    return reinterpret_cast<two_words (*)(void *, void *)>(function)(first, second);
#endif
}

} // namespace fult::detail
