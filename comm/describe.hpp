// Operations in words, for errors and for reports of what tasks wait for.
#pragma once

#include <cstddef>
#include <string>

#include "comm/operation.hpp"

namespace fult::comm::detail {

// "endpoint 0 (world)"; those that make_endpoint has made follow as 1, 2, ... in order.
std::string endpoint_name(unsigned number);

// What somebody waits for: "a message from rank 3, tag 7, endpoint 0 (world)". Allocates nothing.
void describe_wait(const operation &what, char *text, std::size_t size) noexcept;

// Why one ended with errc::peer_left.
std::string describe_departure(const operation &what);
// How to see what the tasks of a rank wait for, as a part of a message.
std::string where_tasks_wait();
// The same error as of another call: "fult-comm: recv: ..." becomes "fult-comm: barrier: ...".
error as_of(const error &how, const char *call);

} // namespace fult::comm::detail
