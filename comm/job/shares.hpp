// Determines whether the ranks of a host have a processor for each of their workers.
#pragma once

#include <span>
#include <string>

namespace fult::comm::detail {

// What this rank uses of its host, as text for the other ranks: its workers, and the processors that it may
// run on. Any thread.
std::string own_share();

// `shares`: of all ranks of this host; `own`: index of this rank's. Returns true if the ranks that may run on
// this rank's processors may have more workers than processors; false if a text is invalid.
bool more_workers_than_processors(std::span<const std::string> shares, std::size_t own);

} // namespace fult::comm::detail
