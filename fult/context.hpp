// Switching stacks. The only user of Boost.Context.
#pragma once

#include <cstddef>
#include <cstdint>

#include <boost/context/detail/fcontext.hpp>

#include <fult/detail/platform.hpp>

namespace fult::detail {

// Arrives with every jump: the context that was left, and a word from who left it.
struct arrival {
    void *from;
    std::uintptr_t word;
};

using context_entry = void (*)(boost::context::detail::transfer_t);

inline arrival to_arrival(boost::context::detail::transfer_t t) noexcept {
    return {t.fctx, reinterpret_cast<std::uintptr_t>(t.data)};
}

inline void *make_context(void *stack_top, std::size_t size, context_entry entry) noexcept {
    return boost::context::detail::make_fcontext(stack_top, size, entry);
}

// Leaves this context for another; returns when somebody jumps back. Until then nothing of it may be touched.
FULT_ALWAYS_INLINE arrival jump(void *to, std::uintptr_t word) noexcept {
    static_assert(sizeof(two_words) == sizeof(boost::context::detail::transfer_t));
    const auto in = call_that_jumps_back(reinterpret_cast<void *>(&boost::context::detail::jump_fcontext), to,
                                         reinterpret_cast<void *>(word));
    return {in.first, reinterpret_cast<std::uintptr_t>(in.second)};
}

} // namespace fult::detail
