// Return addresses: of the caller's stack, and of the stack of a context that was left.
#pragma once

#include <cstddef>
#include <span>

namespace fult::detail {

// The caller's own, its innermost one first, behind `skip` of them; how many there are, at most into.size().
std::size_t frames_here(std::span<void *> into, std::size_t skip) noexcept;

// Calls visit(argument, address) for each of them, from its own on outwards: of a stack that is full there
// may be more than any array has room for.
void visit_frames_here(void (*visit)(void *argument, void *address), void *argument) noexcept;

// Those of a context that a jump has left (context.hpp) and that nobody continues meanwhile. Only reads that
// stack, whose end is `high`. The innermost one is where the jump was made.
std::size_t frames_of(const void *context, const std::byte *high, std::span<void *> into) noexcept;

// Whether a call was made from that function; false where it cannot be told.
bool is_in(const void *return_address, const void *function) noexcept;

} // namespace fult::detail
