// Kernel threads of the library itself. They are started by workers, which are bound to a processor each, and
// must not share that one.
#pragma once

#include <sys/types.h>
#include <vector>

namespace fult::comm::detail {

// In the thread itself, for as long as it runs: lets it run on all processors that the process had when this
// library was loaded, gives it a name of at most 15 characters, and makes it known as none of the program's.
class own_thread {
  public:
    explicit own_thread(const char *name) noexcept;
    own_thread(const own_thread &) = delete;
    own_thread &operator=(const own_thread &) = delete;
    ~own_thread();

  private:
    pid_t number_;
};

// Threads that other libraries begin while this one starts them (PMIx, providers of libfabric). They are
// known as none of the program's from close() to the end of this object.
class others_threads {
  public:
    others_threads() noexcept; // the calling thread's new threads are told by its name, which they inherit
    others_threads(const others_threads &) = delete;
    others_threads &operator=(const others_threads &) = delete;
    ~others_threads();
    void close() noexcept;

  private:
    pid_t maker_;
    char name_[16] = "";
    bool is_open_;
    std::vector<pid_t> known_;
};

// How many processors that are; 0: not known.
unsigned processors_at_start() noexcept;
std::vector<unsigned> list_of_processors_at_start();

} // namespace fult::comm::detail
