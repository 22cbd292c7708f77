// What the parts of a device that know endpoints have in common: its core, and the parts that know none.
// Those that come first know none of the later ones.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "comm/protocol/answers.hpp"
#include "comm/protocol/core.hpp"
#include "comm/protocol/credits.hpp"
#include "comm/protocol/endpoint_table.hpp"
#include "comm/protocol/flow_control.hpp"
#include "comm/protocol/packet_buffers.hpp"
#include "comm/protocol/probe_port.hpp"
#include "comm/protocol/rendezvous.hpp"
#include "comm/protocol/send_path.hpp"
#include "comm/protocol/sleep.hpp"

namespace fult::comm::detail {

struct protocol_core : device_core {
    using device_core::device_core;

    device_sleep sleep;
    packet_buffers packets{*this};
    credits windows{*this};
    send_path sends{*this, packets, sleep};
    answer_queue answers{*this, sends, sleep};
    rendezvous long_messages{*this, sends, answers, sleep};
    endpoint_table endpoints;
    flow_control flow{*this, answers};
    probe_port probes;
};

} // namespace fult::comm::detail
