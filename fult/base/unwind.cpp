#include "unwind.hpp"

#include <cstdint>
#include <unwind.h>

#include <fult/detail/address.hpp>
#include <fult/detail/platform.hpp>

// Walking a suspended stack needs the registers that a jump has saved (Boost.Context 1.74: jump_fcontext) and
// the compiler's unwind tables. The unwinder is made to believe that the suspended function has called this
// one: the frame of fult_unwind_there declares that its caller's registers are in the saved context and that
// its caller's stack pointer is the one before the jump. The suspended stack is neither run nor written.

namespace fult::detail {
namespace {

// visit(address) returns false to end the walk. Inlined: the first frame is that of the caller.
template <class Visit> FULT_ALWAYS_INLINE void walk(Visit visit) noexcept {
    _Unwind_Backtrace(
        [](_Unwind_Context *frame, void *each) {
            auto *const at = at_address<void>(_Unwind_GetIP(frame));
            return at && (*static_cast<Visit *>(each))(at) ? _URC_NO_REASON : _URC_END_OF_STACK;
        },
        &visit);
}

} // namespace

FULT_NOINLINE std::size_t frames_here(std::span<void *> into, std::size_t skip) noexcept {
    std::size_t count = 0, passed = 0;
    walk([&](void *at) {
        if (passed++ > skip && count < into.size()) // this frame comes first
            into[count++] = at;
        return count < into.size();
    });
    return count;
}

void visit_frames_here(void (*visit)(void *argument, void *address), void *argument) noexcept {
    walk([&](void *at) {
        visit(argument, at);
        return true;
    });
}

#if defined(__x86_64__)

// Above the saved registers (64 bytes with the return address) lies the gap that call_that_jumps_back leaves
// (128 bytes): the CFA of this frame is the stack pointer at the jump. The symbols are hidden, not local:
// link-time optimization may put this text and the code that uses it into different objects.
extern "C" const char fult_unwind_returns[];
extern "C" void fult_unwind_there(void (*callback)(void *), void *argument, const void *context) noexcept;
asm(R"(
    .pushsection .text
    .p2align 4
    .globl fult_unwind_there, fult_unwind_returns
    .hidden fult_unwind_there, fult_unwind_returns
    .type fult_unwind_there, @function
fult_unwind_there:
    .cfi_startproc
    pushq %rbx
    .cfi_def_cfa_offset 16
    .cfi_offset %rbx, -16
    .cfi_remember_state
    movq %rdx, %rbx
    movq %rdi, %rax
    movq %rsi, %rdi
    .cfi_def_cfa %rbx, 192
    .cfi_offset %r12, -184
    .cfi_offset %r13, -176
    .cfi_offset %r14, -168
    .cfi_offset %r15, -160
    .cfi_offset %rbx, -152
    .cfi_offset %rbp, -144
    .cfi_offset %rip, -136
    callq *%rax
fult_unwind_returns:
    .cfi_restore_state
    popq %rbx
    .cfi_def_cfa_offset 8
    retq
    .cfi_endproc
    .size fult_unwind_there, . - fult_unwind_there
    .popsection
)");

std::size_t frames_of(const void *context, const std::byte *, std::span<void *> into) noexcept {
    std::size_t count = 0;
    bool there = false; // past the frame below
    auto collect = [&](void *at) {
        if (there && count < into.size())
            into[count++] = at;
        there = there || at == fult_unwind_returns;
        return count < into.size();
    };
    fult_unwind_there([](void *argument) { walk(*static_cast<decltype(collect) *>(argument)); }, &collect,
                      context);
    return count;
}

#else

// Arm's procedure call standard allows chaining frames by x29, and compilers do so by default.
std::size_t frames_of(const void *context, const std::byte *high, std::span<void *> into) noexcept {
    const auto *saved = static_cast<void *const *>(context);
    std::size_t count = 0;
    const auto add = [&](void *at) {
        if (at && count < into.size())
            into[count++] = at;
    };
    add(saved[0xa0 / sizeof(void *)]); // the resume address
    const void *frame = saved[0x90 / sizeof(void *)];
    while (frame > context && frame <= high - 2 * sizeof(void *) && address_of(frame) % sizeof(void *) == 0 &&
           count < into.size()) {
        const auto *record = static_cast<void *const *>(frame);
        add(record[1]);
        if (record[0] <= frame)
            break;
        frame = record[0];
    }
    return count;
}

#endif

bool is_in(const void *return_address, const void *function) noexcept {
    return _Unwind_FindEnclosingFunction(const_cast<void *>(return_address)) == function;
}

} // namespace fult::detail
