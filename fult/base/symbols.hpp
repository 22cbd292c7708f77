// Names of functions, for reports. Does not allocate, so that a signal handler may use it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fult::detail {

// The location of a return address.
struct location {
    const char *file = nullptr;     // executable or library; null: unknown
    std::uintptr_t offset = 0;      // offset in the file, as for addr2line
    const char *function = nullptr; // mangled; null: unknown
    std::uintptr_t beyond = 0;      // start of the function
};

// Looks up names in the symbol tables of the files, including local symbols unless the file is stripped.
// Keeps the files mapped while it lives.
class symbols {
  public:
    symbols() = default;
    ~symbols();
    symbols(const symbols &) = delete;
    symbols &operator=(const symbols &) = delete;

    // The location of the call before the return address.
    location find(const void *return_address) noexcept;

    // Prints "function+0x1c at file(+0x4321)"; the name is demangled if `demangle` is set (which allocates).
    // Returns the number of characters, less than `size`.
    std::size_t print(const void *return_address, char *into, std::size_t size, bool demangle) noexcept;

  private:
    struct module {
        const void *base = nullptr; // load address
        const std::byte *image = nullptr;
        std::size_t bytes = 0;
    };
    const module *open(const void *base, const char *file) noexcept;

    static constexpr std::size_t max_modules = 32;
    module modules_[max_modules];
    std::size_t count_ = 0;
};

} // namespace fult::detail
