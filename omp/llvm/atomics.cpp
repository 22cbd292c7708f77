// __kmpc_atomic_*: atomic updates by call, for types and operations without an instruction. Values of up to
// eight bytes are exchanged; larger ones are under a lock by address.
#include <atomic>
#include <cstring>

#include "kmp.hpp"
#include "omp/core/locks.hpp"

using namespace fult::omp;
using kmp::location;

namespace {

template <std::size_t> struct word_of_size { using type = void; };
template <> struct word_of_size<1> { using type = std::uint8_t; };
template <> struct word_of_size<2> { using type = std::uint16_t; };
template <> struct word_of_size<4> { using type = std::uint32_t; };
template <> struct word_of_size<8> { using type = std::uint64_t; };
template <class T> using word = typename word_of_size<sizeof(T)>::type;
template <class T> constexpr bool fits_word = !std::is_void_v<word<T>>;

template <class To, class From> To same_bits(const From &from) noexcept {
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

constexpr unsigned lock_count = 64;
struct alignas(64) padded_lock {
    simple_lock lock;
};
padded_lock locks[lock_count];
simple_lock *lock_for(const void *at) noexcept {
    return &locks[reinterpret_cast<std::uintptr_t>(at) / 16 % lock_count].lock;
}

// Returns the value before, and sets `after`.
template <class T, class Operation> T update(T *at, T &after, const Operation &operation) {
    if constexpr (fits_word<T>) {
        const std::atomic_ref<word<T>> w(*reinterpret_cast<word<T> *>(at));
        word<T> seen = w.load(std::memory_order_relaxed);
        do
            after = operation(same_bits<T>(seen));
        while (!w.compare_exchange_weak(seen, same_bits<word<T>>(after), std::memory_order_seq_cst));
        return same_bits<T>(seen);
    } else {
        simple_lock *const l = lock_for(at);
        lock_set(l);
        const T before = *at;
        after = *at = operation(before);
        lock_unset(l);
        return before;
    }
}

template <class T, class Operation> void change(T *at, const Operation &operation) {
    T after;
    update(at, after, operation);
}
template <class T, class Operation> T capture(T *at, int want_after, const Operation &operation) {
    T after;
    const T before = update(at, after, operation);
    return want_after ? after : before;
}

using i1 = signed char;
using u1 = unsigned char;
using i2 = std::int16_t;
using u2 = std::uint16_t;
using i4 = std::int32_t;
using u4 = std::uint32_t;
using i8 = std::int64_t;
using u8 = std::uint64_t;
using f4 = float;
using f8 = double;
using f10 = long double;
__extension__ typedef _Complex float c4;        // of C
__extension__ typedef _Complex double c8;       // of C
__extension__ typedef _Complex long double c10; // of C

static_assert(sizeof(f10) == 16 && sizeof(c8) == 16 && sizeof(c10) == 32, "the interface's values");
static_assert(fits_word<c4> && fits_word<f8> && !fits_word<c8>, "larger values are under a lock");

namespace op {
// By the processor's rules, without undefined overflows and shifts.
template <class T> using modular = std::conditional_t<std::is_integral_v<T>, u8, T>;
template <class T> T add(T a, T b) {
    return static_cast<T>(static_cast<modular<T>>(a) + static_cast<modular<T>>(b));
}
template <class T> T sub(T a, T b) {
    return static_cast<T>(static_cast<modular<T>>(a) - static_cast<modular<T>>(b));
}
template <class T> T mul(T a, T b) {
    return static_cast<T>(static_cast<modular<T>>(a) * static_cast<modular<T>>(b));
}
template <class T> T div(T a, T b) { return static_cast<T>(a / b); }
template <class T> T andb(T a, T b) { return static_cast<T>(a & b); }
template <class T> T orb(T a, T b) { return static_cast<T>(a | b); }
template <class T> T xor_(T a, T b) { return static_cast<T>(a ^ b); }
template <class T> T neqv(T a, T b) { return static_cast<T>(a ^ b); }
template <class T> T eqv(T a, T b) { return static_cast<T>(a ^ ~b); }
template <class T> T andl(T a, T b) { return static_cast<T>(a && b); }
template <class T> T orl(T a, T b) { return static_cast<T>(a || b); }
template <class T> T shl(T a, T b) { return static_cast<T>(static_cast<u8>(a) << (b & 63)); }
template <class T> T shr(T a, T b) { return static_cast<T>(a >> (b & 63)); }
template <class T> T min(T a, T b) { return b < a ? b : a; }
template <class T> T max(T a, T b) { return a < b ? b : a; }

template <class T> T reversed_sub(T a, T b) { return sub(b, a); }
template <class T> T reversed_div(T a, T b) { return div(b, a); }
} // namespace op

template <class T> T read(T *at) {
    T value;
    return update(at, value, [](T before) { return before; });
}
template <class T> bool exchange_if(T *at, T &expected, T desired) {
    return std::atomic_ref<T>(*at).compare_exchange_strong(expected, desired);
}

using combine = void (*)(void *result, const void *a, const void *b);
template <class T> void combine_word(void *at, const void *by, combine f) {
    change(static_cast<T *>(at), [by, f](T before) {
        T after;
        f(&after, &before, by);
        return after;
    });
}
void combine_locked(void *at, const void *by, combine f) {
    simple_lock *const l = lock_for(at);
    lock_set(l);
    f(at, at, by);
    lock_unset(l);
}
simple_lock start_lock;

} // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define FULT_PLAIN(TYPE, T, NAME, OP)                                  \
    void __kmpc_atomic_##TYPE##_##NAME(location *, int, T *at, T by) { \
        change(at, [by](T value) { return op::OP(value, by); });       \
    }
#define FULT_CAPTURE(TYPE, T, NAME, OP)                                              \
    T __kmpc_atomic_##TYPE##_##NAME##_cpt(location *, int, T *at, T by, int after) { \
        return capture(at, after, [by](T value) { return op::OP(value, by); });      \
    }
#define FULT_UPDATE(TYPE, T, NAME, OP) FULT_PLAIN(TYPE, T, NAME, OP) FULT_CAPTURE(TYPE, T, NAME, OP)
// The other order of operands.
#define FULT_REVERSE(TYPE, T, NAME)                                                      \
    void __kmpc_atomic_##TYPE##_##NAME##_rev(location *, int, T *at, T by) {             \
        change(at, [by](T value) { return op::NAME(by, value); });                       \
    }                                                                                    \
    T __kmpc_atomic_##TYPE##_##NAME##_cpt_rev(location *, int, T *at, T by, int after) { \
        return capture(at, after, [by](T value) { return op::NAME(by, value); });        \
    }
#define FULT_ACCESS(TYPE, T)                                                 \
    T __kmpc_atomic_##TYPE##_rd(location *, int, T *at) { return read(at); } \
    void __kmpc_atomic_##TYPE##_wr(location *, int, T *at, T value) {        \
        change(at, [value](T) { return value; });                            \
    }
#define FULT_SWAP(TYPE, T)                                          \
    T __kmpc_atomic_##TYPE##_swp(location *, int, T *at, T value) { \
        return capture(at, 0, [value](T) { return value; });        \
    }
// Computed in a wider type.
#define FULT_WIDE(TYPE, T, WIDE, W, NAME)                                                          \
    void __kmpc_atomic_##TYPE##_##NAME##_##WIDE(location *, int, T *at, W by) {                    \
        change(at, [by](T value) { return static_cast<T>(op::NAME(static_cast<W>(value), by)); }); \
    }
#define FULT_ARITHMETIC(TYPE, T)   \
    FULT_UPDATE(TYPE, T, add, add) \
    FULT_UPDATE(TYPE, T, sub, sub) \
    FULT_UPDATE(TYPE, T, mul, mul) \
    FULT_UPDATE(TYPE, T, div, div) \
    FULT_REVERSE(TYPE, T, sub)     \
    FULT_REVERSE(TYPE, T, div)     \
    FULT_ACCESS(TYPE, T)           \
    FULT_SWAP(TYPE, T)
#define FULT_REAL(TYPE, T)         \
    FULT_ARITHMETIC(TYPE, T)       \
    FULT_UPDATE(TYPE, T, min, min) \
    FULT_UPDATE(TYPE, T, max, max)
#define FULT_INTEGER(TYPE, T, U)        \
    FULT_REAL(TYPE, T)                  \
    FULT_UPDATE(TYPE, T, andb, andb)    \
    FULT_UPDATE(TYPE, T, orb, orb)      \
    FULT_UPDATE(TYPE, T, xor, xor_)     \
    FULT_UPDATE(TYPE, T, andl, andl)    \
    FULT_UPDATE(TYPE, T, orl, orl)      \
    FULT_UPDATE(TYPE, T, eqv, eqv)      \
    FULT_UPDATE(TYPE, T, neqv, neqv)    \
    FULT_UPDATE(TYPE, T, shl, shl)      \
    FULT_UPDATE(TYPE, T, shr, shr)      \
    FULT_REVERSE(TYPE, T, shl)          \
    FULT_REVERSE(TYPE, T, shr)          \
    FULT_UPDATE(TYPE##u, U, div, div)   \
    FULT_UPDATE(TYPE##u, U, shr, shr)   \
    FULT_REVERSE(TYPE##u, U, div)       \
    FULT_REVERSE(TYPE##u, U, shr)       \
    FULT_WIDE(TYPE, T, float8, f8, mul) \
    FULT_WIDE(TYPE, T, float8, f8, div)
// The interface returns captured values of this type through a pointer.
#define FULT_CAPTURE_OUT(NAME, OP)                                                         \
    void __kmpc_atomic_cmplx4_##NAME(location *, int, c4 *at, c4 by, c4 *out, int after) { \
        *out = capture(at, after, [by](c4 value) { return op::OP(value, by); });           \
    }

#define FULT_COMPARE(SIZE, T)                                                                          \
    bool __kmpc_atomic_bool_##SIZE##_cas(location *, int, T *at, T expected, T desired) {              \
        return exchange_if(at, expected, desired);                                                     \
    }                                                                                                  \
    bool __kmpc_atomic_bool_##SIZE##_cas_cpt(location *, int, T *at, T expected, T desired, T *seen) { \
        const bool done = exchange_if(at, expected, desired);                                          \
        if (!done)                                                                                     \
            *seen = expected;                                                                          \
        return done;                                                                                   \
    }                                                                                                  \
    T __kmpc_atomic_val_##SIZE##_cas(location *, int, T *at, T expected, T desired) {                  \
        exchange_if(at, expected, desired);                                                            \
        return expected;                                                                               \
    }                                                                                                  \
    T __kmpc_atomic_val_##SIZE##_cas_cpt(location *, int, T *at, T expected, T desired, T *seen) {     \
        *seen = exchange_if(at, expected, desired) ? desired : expected;                               \
        return expected;                                                                               \
    }
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {

FULT_INTEGER(fixed1, i1, u1)
FULT_INTEGER(fixed2, i2, u2)
FULT_INTEGER(fixed4, i4, u4)
FULT_INTEGER(fixed8, i8, u8)
FULT_REAL(float4, f4)
FULT_REAL(float8, f8)
FULT_REAL(float10, f10)
FULT_WIDE(float4, f4, float8, f8, add)
FULT_WIDE(float4, f4, float8, f8, sub)
FULT_WIDE(float4, f4, float8, f8, mul)
FULT_WIDE(float4, f4, float8, f8, div)
FULT_ARITHMETIC(cmplx8, c8)
FULT_ARITHMETIC(cmplx10, c10)

FULT_PLAIN(cmplx4, c4, add, add)
FULT_PLAIN(cmplx4, c4, sub, sub)
FULT_PLAIN(cmplx4, c4, mul, mul)
FULT_PLAIN(cmplx4, c4, div, div)
FULT_PLAIN(cmplx4, c4, sub_rev, reversed_sub)
FULT_PLAIN(cmplx4, c4, div_rev, reversed_div)
FULT_ACCESS(cmplx4, c4)
FULT_CAPTURE_OUT(add_cpt, add)
FULT_CAPTURE_OUT(sub_cpt, sub)
FULT_CAPTURE_OUT(mul_cpt, mul)
FULT_CAPTURE_OUT(div_cpt, div)
FULT_CAPTURE_OUT(sub_cpt_rev, reversed_sub)
FULT_CAPTURE_OUT(div_cpt_rev, reversed_div)
void __kmpc_atomic_cmplx4_swp(location *, int, c4 *at, c4 value, c4 *out) {
    *out = capture(at, 0, [value](c4) { return value; });
}
FULT_WIDE(cmplx4, c4, cmplx8, c8, add)
FULT_WIDE(cmplx4, c4, cmplx8, c8, sub)
FULT_WIDE(cmplx4, c4, cmplx8, c8, mul)
FULT_WIDE(cmplx4, c4, cmplx8, c8, div)

FULT_COMPARE(1, i1)
FULT_COMPARE(2, i2)
FULT_COMPARE(4, i4)
FULT_COMPARE(8, i8)

// Any operation, on a value of so many bytes.
void __kmpc_atomic_1(location *, int, void *at, void *by, combine f) { combine_word<u1>(at, by, f); }
void __kmpc_atomic_2(location *, int, void *at, void *by, combine f) { combine_word<u2>(at, by, f); }
void __kmpc_atomic_4(location *, int, void *at, void *by, combine f) { combine_word<u4>(at, by, f); }
void __kmpc_atomic_8(location *, int, void *at, void *by, combine f) { combine_word<u8>(at, by, f); }
void __kmpc_atomic_10(location *, int, void *at, void *by, combine f) { combine_locked(at, by, f); }
void __kmpc_atomic_16(location *, int, void *at, void *by, combine f) { combine_locked(at, by, f); }
void __kmpc_atomic_20(location *, int, void *at, void *by, combine f) { combine_locked(at, by, f); }
void __kmpc_atomic_32(location *, int, void *at, void *by, combine f) { combine_locked(at, by, f); }
void __kmpc_atomic_start() { lock_set(&start_lock); }
void __kmpc_atomic_end() { lock_unset(&start_lock); }

} // extern "C"
