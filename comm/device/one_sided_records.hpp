// Records of one-sided access, all of kind record::one_sided: what follows the heads. The origin is the rank
// that requests, the target the one whose memory is accessed.
#pragma once

#include <cstdint>

#include "comm/packets/wire.hpp"

namespace fult::comm::detail {

// In record_head::flags, with the bits below.
enum class one_sided_kind : std::uint8_t {
    put = 1, // put_body, then bytes for the target's region
    fetch,   // access_body, origin_body: the target reads the bytes from the origin's memory
    get,     // access_body: the target sends the bytes; origin_body may follow: it may write them there
    bytes,   // bytes_body, then the requested bytes
    parts,   // name_body: the target cannot read them remotely, send them as put
    ended    // ended_body: complete, or refused
};
inline constexpr std::uint8_t one_sided_kind_bits = 0x0f;
inline constexpr std::uint8_t one_sided_last = 0x10;   // of put: the last part, to be answered
inline constexpr std::uint8_t one_sided_signal = 0x20; // put, fetch: then deliver a message to the endpoint

struct put_body {
    std::uint64_t id;     // the origin's id of the operation
    std::uint64_t region; // the target's id
    std::uint64_t offset; // within the region
};
struct access_body {
    std::uint64_t id;
    std::uint64_t region;
    std::uint64_t offset;
    std::uint64_t size;
};
struct origin_body { // the origin's memory
    std::uint64_t address;
    std::uint64_t key;
};
struct bytes_body {
    std::uint64_t id;
    std::uint64_t offset; // within the origin's memory
};
struct name_body {
    std::uint64_t id;
};
struct ended_body {
    std::uint64_t id;
    std::uint64_t refused;
};

static_assert((one_sided_kind_bits & (one_sided_last | one_sided_signal)) == 0);
static_assert(static_cast<std::uint8_t>(one_sided_kind::ended) <= one_sided_kind_bits);
static_assert(sizeof(put_body) == 24 && sizeof(access_body) == 32 && sizeof(origin_body) == 16 &&
              sizeof(bytes_body) == 16);
static_assert(sizeof(name_body) == 8 && sizeof(ended_body) == 16);

} // namespace fult::comm::detail
