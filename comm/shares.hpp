// Whether the ranks of a host have a processor for each of their threads that look for work.
#pragma once

#include <span>
#include <string>

namespace fult::comm::detail {

// What this rank uses of its host, as a text for the others: its workers, and the processors that it may run
// on. Any thread.
std::string own_share();

// From what all ranks of this host gave, of which one is this rank's own: whether those that may run where
// this one may have more workers than processors. False where a text makes no sense.
bool more_workers_than_processors(std::span<const std::string> shares, std::size_t own);

} // namespace fult::comm::detail
