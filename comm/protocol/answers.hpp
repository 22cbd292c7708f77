// Records of the protocol, which must not be lost: they overtake waiting sends, and are held while there is
// no free packet.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/protocol/send_path.hpp"

namespace fult::comm::detail {

// Under the device's lock.
class answer_queue {
  public:
    answer_queue(device_core &core, send_path &sending, device_sleep &sleep) noexcept
        : core_(core), sending_(sending), sleep_(sleep) {}

    // Returns false if there is no memory to hold it.
    template <class Body> bool answer(int rank, record kind, const Body &body) noexcept {
        return answer_bytes(rank, kind, view(body));
    }
    // The same for a record without content.
    bool send(int rank, record kind) noexcept { return answer(rank, kind, id_body{}); }

    // Reserves the memory for an answer that must not fail later. Returns false if there is none.
    bool promise() noexcept;
    void take_back_promise() noexcept { --promised_; }
    template <class Body> void answer_promised(int rank, record kind, const Body &body) noexcept {
        static_assert(sizeof(Body) <= sizeof held::body);
        hold_promised(rank, kind, view(body));
    }

    void retry() noexcept;
    bool waits() const noexcept { return !held_.empty(); }

  private:
    struct held {
        int rank;
        record kind;
        std::byte body[16];
        std::size_t size;
    };
    template <class Body> static std::span<const std::byte> view(const Body &body) noexcept {
        return std::as_bytes(std::span<const Body, 1>(&body, 1));
    }
    bool answer_bytes(int rank, record kind, std::span<const std::byte> body) noexcept;
    void hold_promised(int rank, record kind, std::span<const std::byte> body) noexcept;

    device_core &core_;
    send_path &sending_;
    device_sleep &sleep_;
    std::vector<held> held_; // has capacity for those that are promised
    std::size_t promised_ = 0;
};

} // namespace fult::comm::detail
