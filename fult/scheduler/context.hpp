// Stack switching. The only user of Boost.Context.
#pragma once

#include <cstddef>
#include <cstdint>

#include <boost/context/detail/fcontext.hpp>

#include <fult/detail/address.hpp>
#include <fult/detail/platform.hpp>

namespace fult::detail {

// The result of a jump: the context that was switched away from, and a word from it.
struct jump_result {
    void *from;
    std::uintptr_t word;
};

using context_entry = void (*)(boost::context::detail::transfer_t);

inline jump_result to_jump_result(boost::context::detail::transfer_t t) noexcept {
    return {t.fctx, address_of(t.data)};
}

inline void *make_context(void *stack_top, std::size_t size, context_entry entry) noexcept {
    return boost::context::detail::make_fcontext(stack_top, size, entry);
}

// Switches to another context; returns when another jump comes back. The suspended context must not be
// touched until then.
FULT_ALWAYS_INLINE jump_result jump(void *to, std::uintptr_t word) noexcept {
    static_assert(sizeof(two_words) == sizeof(boost::context::detail::transfer_t));
    const auto in = call_that_jumps_back(reinterpret_cast<void *>(&boost::context::detail::jump_fcontext), to,
                                         at_address<void>(word));
    return {in.first, address_of(in.second)};
}

} // namespace fult::detail
