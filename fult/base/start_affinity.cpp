#include "start_affinity.hpp"

namespace fult::detail {
namespace {

struct allowed_processors {
    cpu_set_t set{};
    allowed_processors() noexcept {
        if (::sched_getaffinity(0, sizeof set, &set) != 0)
            CPU_ZERO(&set);
    }
};
const allowed_processors at_start;

} // namespace

const cpu_set_t &processors_at_start() noexcept { return at_start.set; }

void run_on_processors_at_start() noexcept {
    if (CPU_COUNT(&at_start.set) != 0)
        ::sched_setaffinity(0, sizeof at_start.set, &at_start.set);
}

} // namespace fult::detail
