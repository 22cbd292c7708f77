#include "comm/bootstrap/bootstrap.hpp"

#include <cstdlib>
#include <initializer_list>

#include "fult/base/numbers.hpp"

namespace fult::comm::detail {

bootstrap::~bootstrap() = default;

namespace {

enum class launcher_kind { pmix, pmi1, fult_run, none };

launcher_kind launcher_of_process() noexcept {
    if (std::getenv("PMIX_NAMESPACE") != nullptr)
        return launcher_kind::pmix;
    if (std::getenv("PMI_FD") != nullptr)
        return launcher_kind::pmi1;
    if (std::getenv("FULT_RUN_FD") != nullptr)
        return launcher_kind::fult_run;
    return launcher_kind::none;
}

int first_number(std::initializer_list<const char *> variables) noexcept {
    for (const char *const each : variables)
        if (const char *const value = std::getenv(each))
            if (const auto number = fult::detail::whole_number<int>(value); number && *number > 0)
                return *number;
    return 0;
}

} // namespace

std::unique_ptr<bootstrap> connect_bootstrap(std::chrono::milliseconds timeout) {
    switch (launcher_of_process()) {
    case launcher_kind::pmix:
        return connect_pmix(timeout);
    case launcher_kind::pmi1:
        return connect_pmi1(timeout);
    case launcher_kind::fult_run:
        return connect_fult_run(timeout);
    case launcher_kind::none:
        break;
    }
    return connect_one_rank();
}

int ranks_by_launcher() noexcept {
    switch (launcher_of_process()) {
    case launcher_kind::pmix: // its server knows; these are Open MPI's and Slurm's own
        return first_number({"OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"});
    case launcher_kind::pmi1:
        return first_number({"PMI_SIZE"});
    case launcher_kind::fult_run:
        return first_number({"FULT_RUN_SIZE"});
    case launcher_kind::none:
        break;
    }
    return 1;
}

} // namespace fult::comm::detail
