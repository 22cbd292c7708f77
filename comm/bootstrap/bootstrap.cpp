#include "comm/bootstrap/bootstrap.hpp"

#include <cstdlib>

namespace fult::comm::detail {

bootstrap::~bootstrap() = default;

std::unique_ptr<bootstrap> connect_bootstrap(std::chrono::milliseconds timeout) {
    if (std::getenv("PMIX_NAMESPACE") != nullptr)
        return connect_pmix(timeout);
    if (std::getenv("PMI_FD") != nullptr)
        return connect_pmi1(timeout);
    if (std::getenv("FULT_RUN_FD") != nullptr)
        return connect_fult_run(timeout);
    return connect_one_rank();
}

} // namespace fult::comm::detail
