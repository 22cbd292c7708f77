// libFuzzer: addresses and greetings of the transport verbs. What it receives on connections are packets:
// packet_fuzz.cpp.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "comm/base/hex.hpp"
#include "comm/verbs/address.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fult::comm::detail;
    constexpr std::uint64_t token = 0; // so that inputs without knowledge of one get further
    const std::span<const std::uint8_t> bytes(data, size);
    if (const auto g = parse_greeting(std::as_bytes(bytes), token, 4, 0); g && (g->rank == 0 || g->rank >= 4))
        __builtin_trap();
    const std::string text(bytes.begin(), bytes.end());
    for (const std::string &each : {text, to_hex(text), to_hex(std::string("verbs\0", 6) + text)}) {
        (void)maker_of(each);
        if (const auto address = parse_verbs_address(each); address && to_text(*address) != each)
            __builtin_trap();
    }
    return 0;
}
