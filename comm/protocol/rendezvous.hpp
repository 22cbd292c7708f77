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
    rendezvous(device_core &core, send_path &sending, answer_queue &answers, device_sleep &sleep) noexcept
        : core_(core), sending_(sending), answers_(answers), sleep_(sleep) {}
    rendezvous(const rendezvous &) = delete;
    rendezvous &operator=(const rendezvous &) = delete;

    // The sender ---------------------------------------------------------------------------------------------------

    // Makes the message's data available to its receiver; its RTS is to be sent then. Returns false if there
    // is no memory.
    bool offer(sending &s) noexcept;
    void cts_arrived(int source, const cts_body &body) noexcept;
    void fin_arrived(int source, const id_body &body) noexcept;
    std::size_t offered() const noexcept { return offered_.count(); }
    // Describes messages of this rank that no receive took; empty if there are none.
    std::string refused_sends() const;
    void note_refused(const status &about) noexcept;

    // The receiver: each RTS is answered once, by an answer that was promised as it arrived -----------------------

    // The message of that rank has matched the receive. Ends with r.finished, possibly before this returns.
    void begin(receive &r, const status &about, int from, const rts_body &offer) noexcept;
    // No receive will fetch it: the sender need not wait.
    void refuse(int source, const rts_body &offer, id_flags why) noexcept { end(source, offer.id, why); }
    void data_arrived(int source, const record_view &r) noexcept;
    void moved(transfer &t, bool well) noexcept; // of a receive
    std::size_t arriving() const noexcept { return filling_.count(); }

    // Both ---------------------------------------------------------------------------------------------------------

    // Retries what waits for packets or queue space.
    void retry() noexcept;
    bool waits() const noexcept { return parts_ || stalled_; }
    void fail(peer &who) noexcept;

  private:
    sending *announced(std::uint64_t id, int source) const noexcept;
    bool send_parts(sending &s) noexcept;
    void finish(sending &s, errc failure) noexcept;
    bool begin_transfer(receive &r, const rts_body &offer) noexcept;
    void transfer_now(receive &r) noexcept;
    void end(int source, std::uint64_t id, std::uint64_t flags) noexcept; // sends FIN

    device_core &core_;
    send_path &sending_;
    answer_queue &answers_;
    device_sleep &sleep_;
    id_table<sending> offered_;  // messages that wait here for their receivers, by id
    id_table<receive> filling_;  // receives into which parts arrive, by id
    sending *parts_ = nullptr;   // sends in parts that wait for packets
    receive *stalled_ = nullptr; // receives whose transfer waits for queue space
    struct {
        std::size_t count = 0;
        status first; // by destination
    } refused_;       // messages that no receive took
};

} // namespace fult::comm::detail
