// Return addresses of the caller's stack and of suspended stacks.
#pragma once

#include <cstddef>
#include <span>

namespace fult::detail {

// Collects the caller's return addresses, innermost first, without the first `skip`. Returns their number, at
// most into.size().
std::size_t frames_here(std::span<void *> into, std::size_t skip) noexcept;

// Calls visit(argument, address) for each return address, innermost first. For overflowed stacks, which may
// have more frames than any array holds.
void visit_frames_here(void (*visit)(void *argument, void *address), void *argument) noexcept;

// Collects the return addresses of a context that is suspended (scheduler/switch.hpp) and is not resumed in
// the meantime. Only reads that stack, whose end is `high`. The innermost address is that of the jump.
std::size_t frames_of(const void *context, const std::byte *high, std::span<void *> into) noexcept;

// True if the call was made from that function; false if unknown.
bool is_in(const void *return_address, const void *function) noexcept;

} // namespace fult::detail
