// The names of functions, for reports. Uses no heap, so that a signal handler may ask.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fult::detail {

// Where a return address lies.
struct location {
    const char *file = nullptr;     // executable or library; null: unknown
    std::uintptr_t offset = 0;      // there, as addr2line wants it
    const char *function = nullptr; // as the linker knows it (mangled); null: unknown
    std::uintptr_t beyond = 0;      // the function's beginning
};

// Looks names up in the symbol tables that the linker left in the files; those that only the debugger
// could read are used too, where they were not stripped. Keeps the files mapped while it lives.
class symbols {
  public:
    symbols() = default;
    ~symbols();
    symbols(const symbols &) = delete;
    symbols &operator=(const symbols &) = delete;

    // Of the call before the return address.
    location find(const void *return_address) noexcept;

    // "function+0x1c at file(+0x4321)"; the name is made readable where `demangle` (which allocates) is set.
    // Returns the number of characters, less than `size`.
    std::size_t print(const void *return_address, char *into, std::size_t size, bool demangle) noexcept;

  private:
    struct module {
        const void *base = nullptr; // where it is loaded
        const std::byte *image = nullptr;
        std::size_t bytes = 0;
    };
    const module *open(const void *base, const char *file) noexcept;

    static constexpr std::size_t most = 32;
    module modules_[most];
    std::size_t count_ = 0;
};

} // namespace fult::detail
