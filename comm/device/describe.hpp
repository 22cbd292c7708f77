// Descriptions of operations, for errors and for reports of what tasks wait for.
#pragma once

#include <cstddef>
#include <string>

#include "comm/protocol/operation.hpp"

namespace fult::comm::detail {

// "endpoint 0 (world)"; endpoints of make_endpoint are 1, 2, ... in order. Does not allocate.
struct endpoint_text {
    char text[64];
    explicit endpoint_text(unsigned number) noexcept;
};
std::string endpoint_name(unsigned number);

// "rank 2", or "rank 2 (rank 5 of the job)" if the two differ.
std::string rank_name(int own, int in_job);

// What a task waits for: "a message from rank 3, tag 7, endpoint 0 (world)". Does not allocate.
void describe_wait(const operation &op, char *text, std::size_t size) noexcept;

// For a receive: the messages that its endpoint holds and no receive has asked for, a few by their source and
// tag: "unreceived there: 8 bytes from rank 1, tag 5; and 3 more". Nothing if there are none. Does not
// allocate. While a task waits for the receive: only then is its endpoint certain to be there.
void describe_unreceived(const operation &op, char *text, std::size_t size) noexcept;

// The other rank of an operation that ended.
std::string other_rank(const operation &op);
// Why an operation ended with errc::peer_left.
std::string describe_departure(const operation &op);
// Part of a message: how to see what the tasks of a rank wait for.
std::string where_tasks_wait();
// The same error as that of another call: "fult-comm: recv: ..." becomes "fult-comm: barrier: ...".
error as_of(const error &failure, const char *call);

} // namespace fult::comm::detail
