// A library of which a program has only the headers: it is loaded when it is needed and never unloaded, so
// the program also runs where that library is not installed.
#pragma once

namespace fult::comm::detail {

class loaded_library {
  public:
    struct description {
        const char *name, *file; // "libfabric", and the file that dlopen(3) finds
        const char *remedy;      // if it does not load
        const char *least;       // the version that has all functions: "version 1.9"
    };

    // Throws std::runtime_error.
    explicit loaded_library(const description &description);

    // A function, as the pointer that it is assigned to. Throws std::runtime_error if the library is too old
    // to have it.
    struct function {
        void *address;
        template <class F> operator F *() const noexcept { return reinterpret_cast<F *>(address); }
    };
    function operator[](const char *name) const;

  private:
    description what_;
    void *loaded_;
};

} // namespace fult::comm::detail
