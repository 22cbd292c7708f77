// libFuzzer: the messages of launchers. The first byte selects the reader.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

#include "comm/base/strings.hpp"
#include "comm/bootstrap/pmi1_wire.hpp"
#include "comm/bootstrap/run_message.hpp"
#include "comm/packets/wire.hpp"

namespace {

using namespace fult::comm::detail;

void pmi1_reader(std::string_view text) {
    try {
        pmi1_lines lines;
        // in two pieces: what is left of the first must be kept
        lines.feed(text.substr(0, text.size() / 2));
        lines.feed(text.substr(text.size() / 2));
        while (const auto line = lines.next()) {
            const pmi1_reply reply(*line);
            (void)reply.find("cmd");
            (void)reply.find("value");
            try {
                (void)reply.number("size", 1);
            } catch (const pmi1_wire_error &) {
            }
            reply.expect("get_result");
        }
    } catch (const pmi1_wire_error &) {
    }
}

void pmi1_values(std::string_view text) {
    try {
        pmi1_decoder decoder(1 << 16);
        while (!text.empty() && !decoder.complete()) {
            const std::size_t length = std::min<std::size_t>(text.size(), 16);
            decoder.take(text.substr(0, length));
            text.remove_prefix(length);
        }
        if (decoder.complete())
            (void)decoder.bytes();
    } catch (const pmi1_wire_error &) {
    }
}

void run_messages(std::string_view text) {
    try {
        run_stream stream(1 << 16);
        stream.feed(text.substr(0, text.size() / 3));
        (void)stream.next();
        stream.feed(text.substr(text.size() / 3));
        while (const auto message = stream.next())
            (void)unpack_all(message->body, 3);
    } catch (const run_message_error &) {
    }
    (void)unpack_all(text, 2);
    try {
        (void)split_strings(text, 2);
    } catch (const std::runtime_error &) {
    }
}

void records(std::string_view text) {
    record_reader reader(std::as_bytes(std::span(text.data(), text.size())), 4);
    record_view r;
    while (reader.next(r))
        for (const std::byte each : r.body) {
            [[maybe_unused]] const volatile std::byte seen = each;
        }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    if (size == 0)
        return 0;
    const std::string_view text(reinterpret_cast<const char *>(data) + 1, size - 1);
    switch (data[0] % 4) {
    case 0:
        pmi1_reader(text);
        break;
    case 1:
        pmi1_values(text);
        break;
    case 2:
        run_messages(text);
        break;
    default:
        records(text);
    }
    return 0;
}
