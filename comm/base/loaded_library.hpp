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

    // Stores the function's address. Throws std::runtime_error if the library is too old to have it.
    template <class F> void find(F &function, const char *name) const {
        function = reinterpret_cast<F>(address_of_function(name));
    }

  private:
    void *address_of_function(const char *name) const;

    const description &what_;
    void *loaded_;
};

} // namespace fult::comm::detail
