// Kernel threads of the library. They are started by workers, each of which is bound to a processor, and must
// not share that processor.
#pragma once

#include <sys/types.h>
#include <vector>

namespace fult::comm::detail {

// Constructed by the thread itself, for as long as it runs: lets it run on all processors that the process
// had when this library was loaded, names it (at most 15 characters), and registers it as not a thread of the
// program.
class own_thread {
  public:
    explicit own_thread(const char *name) noexcept;
    own_thread(const own_thread &) = delete;
    own_thread &operator=(const own_thread &) = delete;
    ~own_thread();

  private:
    pid_t number_;
};

// Threads that other libraries start during a call from this one (PMIx, providers of libfabric). They are
// registered as not the program's from close() to the end of this object.
class others_threads {
  public:
    others_threads() noexcept; // new threads of the calling thread are recognized by its name, which they
                               // inherit
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

// Number of those processors; 0 if unknown.
unsigned processors_at_start() noexcept;
std::vector<unsigned> list_of_processors_at_start();

} // namespace fult::comm::detail
