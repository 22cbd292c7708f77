// For builds without libibverbs.
#include <stdexcept>

#include "comm/verbs/verbs.hpp"

namespace fult::comm::detail {

std::unique_ptr<transport> open_verbs(const verbs_settings &) {
    throw std::runtime_error(
        "fult-comm: FULT_COMM_NETWORK=verbs: this build of FULT is without it; build with "
        "-Dverbs=enabled (Debian: libibverbs-dev), or use libfabric's verbs;ofi_rxm");
}

verbs_offer offer_verbs(const verbs_settings &, std::size_t) noexcept { return {}; }
const verbs_counts *counts_of(const transport &) noexcept { return nullptr; }

} // namespace fult::comm::detail
