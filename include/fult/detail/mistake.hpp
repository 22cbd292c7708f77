// For overloads that only say what is wrong: without them, a common mistake ends in a page about constraints.
// Internal to the library.
#pragma once

#include <fult/detail/language.hpp>

namespace fult::detail {

// False, once the types are known: static_assert(mistake<T>, "what is wrong, and the remedy").
template <class...> inline constexpr bool mistake = false;

} // namespace fult::detail
