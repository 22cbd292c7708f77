// Names that no other run of the tests has, nor had: of shared memory, sockets and files.
#pragma once

#include <cstdint>
#include <string>
#include <sys/random.h>
#include <unistd.h>

namespace fult::testing {

// The process's number and a random one, "4711-1a2b3c4d5e6f7a8b": a killed process may have left names
// behind, and its number is used again. Processes forked after the first call have their parent's.
inline const std::string &unique_name() {
    static const std::string name = [] {
        std::uint64_t number = 0;
        if (::getrandom(&number, sizeof number, 0) != static_cast<::ssize_t>(sizeof number))
            number = reinterpret_cast<std::uintptr_t>(&number);
        constexpr char digits[] = "0123456789abcdef";
        std::string text = std::to_string(::getpid()) + "-";
        for (; number != 0; number /= 16)
            text += digits[number % 16];
        return text;
    }();
    return name;
}

} // namespace fult::testing
