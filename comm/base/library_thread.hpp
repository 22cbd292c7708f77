// Kernel threads of the library. They are started by workers, each of which is bound to a processor, and must
// not share that processor.
#pragma once

#include <sys/types.h>
#include <vector>

namespace fult::comm::detail {

// Constructed by the thread itself, for as long as it runs: lets it run on all processors that the process
// had when this library was loaded, names it (at most 15 characters), and registers it as not a thread of the
// program.
class library_thread {
  public:
    explicit library_thread(const char *name) noexcept;
    library_thread(const library_thread &) = delete;
    library_thread &operator=(const library_thread &) = delete;
    ~library_thread();

  private:
    pid_t number_;
};

// Threads that other libraries start during a call from this one (PMIx, providers of libfabric). They are
// registered as not the program's from close() to the end of this object.
class foreign_threads {
  public:
    foreign_threads() noexcept; // new threads of the calling thread are recognized by its name, which they
                                // inherit
    foreign_threads(const foreign_threads &) = delete;
    foreign_threads &operator=(const foreign_threads &) = delete;
    ~foreign_threads();
    void close() noexcept;

  private:
    pid_t maker_;
    char name_[16] = "";
    bool is_open_;
    std::vector<pid_t> known_;
};

// Number of those processors; 0 if unknown.
unsigned processors_at_start() noexcept;
std::vector<unsigned> list_of_processors_at_start();

} // namespace fult::comm::detail
