// Messages that do not fit a packet: they wait at their senders, and their receivers read them from there or
// have them sent in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "comm/base/id_table.hpp"
#include "comm/protocol/answers.hpp"
#include "comm/protocol/operation.hpp"
#include "comm/protocol/send_path.hpp"

namespace fult::comm::detail {

// Under the device's lock.
class rendezvous {
  public:
    rendezvous(device_core &core, send_path &path, answer_queue &answers, device_sleep &sleep) noexcept
        : core_(core), send_path_(path), answers_(answers), sleep_(sleep) {}
    rendezvous(const rendezvous &) = delete;
    rendezvous &operator=(const rendezvous &) = delete;

    // The sender ---------------------------------------------------------------------------------------------------

    // Makes the message's data available to its receiver; its RTS is to be sent then. Returns false if there
    // is no memory.
    bool offer(send_operation &s) noexcept;
    void cts_arrived(int source, const cts_body &body) noexcept;
    void fin_arrived(int source, const id_body &body) noexcept;
    std::size_t offer_count() const noexcept { return offers_.count(); }
    // Describes messages of this rank that no receive took; empty if there are none.
    std::string describe_refusals() const;
    void count_refusal(const status &envelope) noexcept;

    // The receiver: each RTS is answered once, by an answer that was promised as it arrived -----------------------

    // The message of that rank has matched the receive. Ends with r.finished, possibly before this returns.
    void begin(receive &r, const status &envelope, int from, const rts_body &rts) noexcept;
    // No receive will fetch it: the sender need not wait.
    void refuse(int source, const rts_body &rts, id_flags reason) noexcept {
        send_fin(source, rts.id, reason);
    }
    void data_arrived(int source, const record_view &r) noexcept;
    void transfer_ended(transfer &t, bool ok) noexcept; // of a receive
    std::size_t receives_in_progress() const noexcept { return partial_receives_.count(); }

    // Both ---------------------------------------------------------------------------------------------------------

    // Retries what waits for packets or queue space.
    void retry() noexcept;
    bool is_waiting() const noexcept { return partial_sends_ || stalled_receives_; }
    void fail(peer &peer) noexcept;

  private:
    send_operation *find_offer(std::uint64_t id, int source) const noexcept;
    bool send_parts(send_operation &s) noexcept;
    void finish(send_operation &s, errc failure) noexcept;
    bool begin_transfer(receive &r, const rts_body &rts) noexcept;
    void start_transfer(receive &r) noexcept;
    void send_fin(int source, std::uint64_t id, std::uint64_t flags) noexcept;
    void mark_waiting() noexcept { core_.waiting.set(waiting_part::rendezvous, is_waiting()); }

    device_core &core_;
    send_path &send_path_;
    answer_queue &answers_;
    device_sleep &sleep_;
    id_table<send_operation> offers_;         // messages that wait here for their receivers, by id
    id_table<receive> partial_receives_;      // receives into which parts arrive, by id
    send_operation *partial_sends_ = nullptr; // sends in parts that wait for packets
    receive *stalled_receives_ = nullptr;     // receives whose transfer waits for queue space
    struct {
        std::size_t count = 0;
        status first; // by destination
    } refusals_;      // messages that no receive took
};

} // namespace fult::comm::detail
