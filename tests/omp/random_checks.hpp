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

// One task as the scheduling constraint sees it, from its begin to its end, or, as an implicit one, to the
// barrier. A tied task begins only on a thread whose last one it descends from.
class constraining {
  public:
    enum kind { implicit, tied, at_once, free };
    constraining(std::uint64_t seed, const constraining *parent, kind what) : parent_(parent) {
        if (what == tied && !here.empty() && !omp_in_final())
            expect(descends_from(here.back()), "a tied task began on the thread of one that is suspended",
                   seed);
        if (what != free)
            here.push_back(this);
    }
    ~constraining() { leave(); }
    void leave() {
        if (const auto at = std::find(here.begin(), here.end(), this); at != here.end())
            here.erase(at);
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
    static inline thread_local std::vector<const constraining *> here; // the newest last
};
