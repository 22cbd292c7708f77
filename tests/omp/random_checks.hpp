// What random OpenMP programs draw, and what their tasks check.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <omp.h>
#include <vector>

inline std::atomic<long> failures{0};

inline void expect(bool right, const char *what, std::uint64_t seed) {
    if (right)
        return;
    if (failures.fetch_add(1) < 10)
        std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), what);
}

// A sequence of random numbers.
struct draw {
    std::uint64_t state;
    std::uint64_t next() {
        std::uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    unsigned below(unsigned n) { return static_cast<unsigned>(next() % n); }
    bool one_in(unsigned n) { return below(n) == 0; }
};

class checked_mutex;
class contended;
class constraining;

struct program {
    std::uint64_t seed;
    bool nested;                                // regions within regions
    bool own_data;                              // no two members of teams share threadprivate data
    bool blocks;                                // in calls that OpenMP does not know: then the rest is null
    checked_mutex *mutex;                       // of tasks that hold it while they wait, or none
    contended *locks;                           // of tasks, also of those that hold the mutex
    std::vector<const constraining *> *members; // by thread number: what has begun there, the newest last
    const char *begun;                          // by thread number: whether its implicit task has
};

// One task as the scheduling constraint sees it, from its begin to its end, or, as an implicit one, to the
// barrier. A task begins only on a thread where it descends from each tied one that is suspended.
class constraining {
  public:
    enum kind { implicit, tied, at_once, free };
    constraining(const program &p, const constraining *parent, kind what)
        : parent_(parent), here_(p.members[omp_get_thread_num()]) {
        expect(p.begun[omp_get_thread_num()] != 0, "a task began before the implicit task of its thread",
               p.seed);
        const auto is_below = [&](const constraining *other) { return descends_from(other); };
        if ((what == tied || what == free) && !omp_in_final() && !p.blocks)
            expect(std::all_of(here_.begin(), here_.end(), is_below),
                   what == tied ? "a tied task began on the thread of one that is suspended"
                                : "an untied task began on the thread of a tied one that is suspended",
                   p.seed);
        if (what != free)
            here_.push_back(this);
    }
    ~constraining() { leave(); }
    void leave() {
        if (const auto at = std::find(here_.begin(), here_.end(), this); at != here_.end())
            here_.erase(at);
    }
    constraining(const constraining &) = delete;
    constraining &operator=(const constraining &) = delete;

  private:
    bool descends_from(const constraining *other) const {
        const constraining *at = this;
        while (at && at != other)
            at = at->parent_;
        return at;
    }
    const constraining *parent_;
    std::vector<const constraining *> &here_;
};
