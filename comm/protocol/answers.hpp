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
    answer_queue(device_core &core, send_path &path, device_sleep &sleep) noexcept
        : core_(core), send_path_(path), sleep_(sleep) {}

    // Returns false if there is no memory to hold it.
    template <class Body> bool answer(int rank, record kind, const Body &body) noexcept {
        return answer_bytes(rank, kind, view(body));
    }
    // The same for a record without content.
    bool send(int rank, record kind) noexcept { return answer(rank, kind, id_body{}); }

    // Reserves the memory for an answer that must not fail later. Returns false if there is none.
    bool reserve() noexcept;
    void release_reservation() noexcept { --reserved_; }
    template <class Body> void answer_reserved(int rank, record kind, const Body &body) noexcept {
        static_assert(sizeof(Body) <= sizeof entry::body);
        hold_reserved(rank, kind, view(body));
    }

    void retry() noexcept;
    bool is_waiting() const noexcept { return !queue_.empty(); }

  private:
    struct entry {
        int rank;
        record kind;
        std::byte body[16];
        std::size_t size;
    };
    template <class Body> static std::span<const std::byte> view(const Body &body) noexcept {
        return std::as_bytes(std::span<const Body, 1>(&body, 1));
    }
    bool answer_bytes(int rank, record kind, std::span<const std::byte> body) noexcept;
    void hold_reserved(int rank, record kind, std::span<const std::byte> body) noexcept;
    void mark_waiting() noexcept { core_.waiting.set(waiting_part::answers, is_waiting()); }

    device_core &core_;
    send_path &send_path_;
    device_sleep &sleep_;
    std::vector<entry> queue_; // has capacity for those that are reserved
    std::size_t reserved_ = 0;
};

} // namespace fult::comm::detail
