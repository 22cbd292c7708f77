#include "tests/global/cases.hpp"

namespace fult::global::testing {

std::span<const conformance_case> global_cases() {
    static const std::vector<conformance_case> all = [] {
        std::vector<conformance_case> list;
        for (const auto part : {heap_cases(), access_cases(), atomic_cases(), container_cases(),
                                random_cases(), task_cases(), cache_cases(), counter_cases()})
            list.insert(list.end(), part.begin(), part.end());
        return list;
    }();
    return all;
}

} // namespace fult::global::testing
