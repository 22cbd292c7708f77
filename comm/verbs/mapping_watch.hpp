// Reports which memory of the process is unmapped, moved or discarded, before the call that does it returns:
// so no address can be in use for other memory while anything still holds state about the earlier one.
//
// It uses userfaultfd(2): the kernel lets munmap, mremap, madvise, brk and mmap with MAP_FIXED return only
// after their events on watched ranges have been read. The thread that reads them passes them on while it
// holds the reader's lock. That holds for every caller, libc itself and direct system calls included, and
// needs no hook of functions.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

namespace fult::comm::detail {

// What is notified. Called by the watch's thread, which must not free memory: if that unmapped a watched
// range, the call would wait for this thread.
class mapping_listener {
  public:
    // Locked while events are read, and passed on.
    virtual void lock() noexcept = 0;
    virtual void unlock() noexcept = 0;
    // The bytes from begin to end are not what they were. Under the lock.
    virtual void unmapped(std::uintptr_t begin, std::uintptr_t end) noexcept = 0;

  protected:
    ~mapping_listener() = default;
};

class mapping_watch {
  public:
    // Without a watch if the kernel does not permit it.
    explicit mapping_watch(mapping_listener &listener) noexcept;
    mapping_watch(const mapping_watch &) = delete;
    mapping_watch &operator=(const mapping_watch &) = delete;
    ~mapping_watch();

    // Watches these bytes, and others of their pages, until they are unmapped. Returns false if that is not
    // possible: not supported, memory of a file, or watched by another user of userfaultfd. Any thread.
    bool watch(const void *base, std::size_t size) noexcept;

  private:
    void run() noexcept;
    bool read_events() noexcept;

    mapping_listener &listener_;
    int faults_ = -1; // the userfaultfd
    int bell_ = -1;   // ends the thread
    std::atomic<bool> ending_{false};
    std::thread thread_;
};

} // namespace fult::comm::detail
