// Argobots: an execution stream a worker, each with a pool of its own first and the others' to steal from
// (randws).
#pragma once

#include <abt.h>
#include <stdexcept>
#include <vector>

#include "common/kernel.hpp"

namespace bench {

inline void check_abt(int status, const char *call) {
    if (status != ABT_SUCCESS)
        throw std::runtime_error(std::string(call) + " failed with status " + std::to_string(status));
}

// The pools of the streams; a task is created in that of the stream it is created on.
inline std::vector<ABT_pool> abt_pools;

inline ABT_pool abt_here() {
    int rank = 0;
    ABT_self_get_xstream_rank(&rank);
    return abt_pools[static_cast<std::size_t>(rank)];
}

inline void run_argobots(unsigned workers, const std::function<void()> &body) {
    check_abt(ABT_init(0, nullptr), "ABT_init");
    abt_pools.resize(workers);
    for (ABT_pool &pool : abt_pools)
        check_abt(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool),
                  "ABT_pool_create_basic");
    std::vector<ABT_xstream> streams(workers);
    for (unsigned i = 0; i < workers; ++i) {
        std::vector<ABT_pool> seen; // its own pool comes first
        for (unsigned k = 0; k < workers; ++k)
            seen.push_back(abt_pools[(i + k) % workers]);
        ABT_sched scheduler;
        check_abt(ABT_sched_create_basic(ABT_SCHED_RANDWS, static_cast<int>(workers), seen.data(),
                                         ABT_SCHED_CONFIG_NULL, &scheduler),
                  "ABT_sched_create_basic");
        if (i == 0) {
            check_abt(ABT_xstream_self(&streams[0]), "ABT_xstream_self");
            check_abt(ABT_xstream_set_main_sched(streams[0], scheduler), "ABT_xstream_set_main_sched");
        } else {
            check_abt(ABT_xstream_create(scheduler, &streams[i]), "ABT_xstream_create");
        }
    }
    body();
    for (unsigned i = 1; i < workers; ++i) {
        ABT_xstream_join(streams[i]);
        ABT_xstream_free(&streams[i]);
    }
    ABT_finalize();
}

inline const version argobots_version{"argobots", 0, run_argobots};

} // namespace bench
