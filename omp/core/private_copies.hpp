// Task reductions whose copies the library makes, combines and destroys by functions of the compiler's.
// (Where the compiler combines, see reductions.hpp.)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "omp_task.hpp"

namespace fult::omp {

struct reduced_variable {
    void *shared;
    const void *original; // for begin_with; null: none
    std::size_t size;
    void (*begin)(void *copy);
    void (*begin_with)(void *copy, const void *original); // instead of begin
    void (*end)(void *copy);                              // null: nothing to destroy
    void (*combine)(void *shared, void *copy);
    // A copy is made by the thread that first asks for it. clang sets this for a variable whose length is
    // known at run time only: before a task asks, it stores the length in a variable of its thread, which
    // these functions read.
    bool lazy;
};

// The copies of a taskgroup's reductions, for each thread of the team.
class private_copies {
  public:
    // sharers: how many taskgroups use it; the end of the last one combines.
    private_copies(const std::vector<reduced_variable> &variables, unsigned threads, unsigned sharers);
    // The thread's copy of the variable at `address`, which may be shared or a copy; null: it is not one of
    // them.
    void *find(const void *address, unsigned thread);
    // A sharer's own addresses of the shared variables, in the same order; the constructor's are sharer 0's.
    void share(unsigned sharer, const std::vector<reduced_variable> &variables) noexcept;
    // Of the last sharer: combines into its variables, and deletes this. May suspend.
    void leave(unsigned sharer, const team_member &here);
    unsigned sharers() const noexcept { return sharers_; }

    private_copies *next = nullptr; // others of the same taskgroup

  private:
    struct copies {
        reduced_variable of;
        std::size_t step;                              // from one thread's to the next one's
        std::unique_ptr<std::atomic<void *>[]> shared; // by sharer
        std::unique_ptr<char[]> memory;
        std::unique_ptr<std::atomic<bool>[]> made;
        char *of_thread(unsigned i) const noexcept { return memory.get() + i * step; }
    };
    void make(const copies &c, unsigned thread) const;
    bool is_shared(const copies &c, const void *address) const noexcept;
    void combine(unsigned sharer, const team_member &here) const;
    void combine(const copies &c, unsigned sharer) const noexcept;
    // A thread where the functions of a lazy variable know its length: `here` if possible.
    const team_member &combines(const copies &c, const team_member &here) const noexcept;
    std::vector<copies> all_;
    unsigned threads_;
    unsigned sharers_;
    std::atomic<unsigned> left_;
};

// The counter's word for reductions holds either a descriptor of the compiler's or, marked, private copies.
void add_copies(group_counter *group, private_copies *c) noexcept;
private_copies *copies_of(const child_counter *group) noexcept; // null: none

// The copy of the running task's thread; searched from `from`, or the innermost taskgroup, outwards.
void *find_copy(const omp_task *me, const child_counter *from, const void *address);

// Ends the taskgroup; combines its copies.
void end_taskgroup_with_copies(omp_task *me);

} // namespace fult::omp
