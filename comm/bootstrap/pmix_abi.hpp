// The part of PMIx that is used, as defined by its standard since version 3, so that every build can be
// started by mpirun, with or without PMIx's headers. tests/comm/bootstrap/pmix_abi_test.cpp compares it with
// the headers if they are installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fult::comm::detail::pmix {

using status_t = int;
using rank_t = std::uint32_t;
using scope_t = std::uint8_t;
using data_type_t = std::uint16_t;

constexpr status_t success = 0;
constexpr status_t operation_succeeded = -157; // completed within the call: no callback follows
constexpr rank_t wildcard = UINT32_MAX - 1;
constexpr scope_t global = 3;

constexpr data_type_t is_bool = 1, is_int = 6, is_uint32 = 14, is_byte_object = 27;

inline constexpr const char *job_size = "pmix.job.size";
inline constexpr const char *collect_data = "pmix.collect";
inline constexpr const char *timeout = "pmix.timeout";

struct proc {
    char nspace[256];
    rank_t rank;
};

struct byte_object {
    char *bytes;
    std::size_t size;
};

struct value {
    data_type_t type;
    union {
        bool flag;
        int integer;
        std::uint32_t uint32;
        byte_object bo;
        struct {
            void *pointers[2];
            char last;
        } largest; // pmix_envar_t
    } data;
};

struct info {
    char key[512];
    std::uint32_t flags;
    pmix::value value;
};

using fence_callback = void (*)(status_t status, void *data);

using init_function = status_t(proc *self, info *infos, std::size_t count);
using finalize_function = status_t(const info *infos, std::size_t count);
using abort_function = status_t(int status, const char *text, proc *procs, std::size_t count);
using put_function = status_t(scope_t scope, const char *key, value *what);
using commit_function = status_t();
using fence_function = status_t(const proc *procs, std::size_t proc_count, const info *infos,
                                std::size_t info_count, fence_callback done, void *data);
using get_function = status_t(const proc *of, const char *key, const info *infos, std::size_t count,
                              value **found);
using error_string_function = const char *(status_t);

} // namespace fult::comm::detail::pmix
