// The records of one-sided access, all of kind record::one_sided: what follows the heads. The rank that asks
// is the origin, the one whose memory is accessed the target.
#pragma once

#include <cstdint>

#include "comm/wire.hpp"

namespace fult::comm::detail {

// In record_head::flags, with the bits below.
enum class one_sided_kind : std::uint8_t {
    put = 1, // put_body, then bytes for the target's region
    fetch,   // access_body: the target reads the bytes from the origin's memory
    get,     // access_body: the target writes the bytes to the origin's memory, or sends them
    bytes,   // bytes_body, then bytes that were asked for
    parts,   // name_body: the target cannot read them, send them as put
    ended    // ended_body: all is done, or refused
};
inline constexpr std::uint8_t one_sided_kind_bits = 0x0f;
inline constexpr std::uint8_t one_sided_last = 0x10;   // of put: the answer is wanted now
inline constexpr std::uint8_t one_sided_signal = 0x20; // of put and fetch: a message to the endpoint follows

struct put_body {
    std::uint64_t id;     // the origin's name for the operation
    std::uint64_t region; // the target's name
    std::uint64_t offset; // in there
};
struct access_body {
    std::uint64_t id;
    std::uint64_t region;
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t address; // of the origin's memory
    std::uint64_t key;
    std::uint64_t direct; // whether address and key are valid
};
struct bytes_body {
    std::uint64_t id;
    std::uint64_t offset; // in the origin's memory
};
struct name_body {
    std::uint64_t id;
};
struct ended_body {
    std::uint64_t id;
    std::uint64_t refused;
};

} // namespace fult::comm::detail
