// The searches of a single rank, in one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/support/version.hpp"
#include "search.hpp"

namespace bfs {

class serial_ranks {
  public:
    static constexpr apps::version version = apps::version::serial;

    int rank() const { return 0; }
    int size() const { return 1; }
    std::int64_t sum(std::int64_t mine) { return mine; }
    std::int64_t largest(std::int64_t mine) { return mine; }

    template <class T>
    std::vector<T> exchange(const std::vector<T> &out, const std::vector<std::size_t> &counts,
                            std::vector<std::size_t> &arrived) {
        arrived = counts;
        return out;
    }

    void expand(const graph &g, tree &into, const frontier &at, std::vector<std::size_t> &next) {
        scan(g, into, at, next, [](int, const update &) {}); // no vertex has another owner
    }
};

} // namespace bfs
