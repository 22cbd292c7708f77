#include "common/counters.hpp"

#if FULT_BENCH_PAPI
#include <papi.h>
#endif

namespace bench {

#if FULT_BENCH_PAPI
counters::counters() : events_(PAPI_NULL) {
    constexpr std::array<int, count> presets{PAPI_TOT_INS, PAPI_L1_DCM, PAPI_L2_DCM};
    static const bool works = PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT;
    if (!works || PAPI_create_eventset(&events_) != PAPI_OK)
        return;
    // A counter that the processor lacks, or has no room for beside the others, is left out.
    for (std::size_t i = 0; i < count; ++i)
        if (PAPI_add_event(events_, presets[i]) == PAPI_OK)
            added_.push_back(i);
}

counters::~counters() {
    if (events_ == PAPI_NULL)
        return;
    PAPI_cleanup_eventset(events_);
    PAPI_destroy_eventset(&events_);
}

void counters::start() {
    if (!added_.empty() && PAPI_start(events_) != PAPI_OK)
        added_.clear();
}

void counters::stop() {
    std::array<long long, count> read{};
    values_.fill(std::nullopt);
    if (added_.empty() || PAPI_stop(events_, read.data()) != PAPI_OK)
        return;
    for (std::size_t i = 0; i < added_.size(); ++i)
        values_[added_[i]] = read[i];
}
#else
counters::counters() : events_(0) {}
counters::~counters() = default;
void counters::start() {}
void counters::stop() {}
#endif

std::optional<long long> counters::value(std::size_t which) const { return values_[which]; }

} // namespace bench
