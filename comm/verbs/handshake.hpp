// What two ranks do to connect, apart from the adapter: which greeting follows which event. See
// connector.hpp.
//
//   fresh  -> asking   this rank has something to send
//   fresh  -> half     the other rank has asked
//   asking -> half     a greeting of the other rank has brought its numbers
//   half   -> ready    the other rank has confirmed, or something has arrived on the connection
//   any    -> failed   for good
//
// While a rank has something to send and is not ready, it asks, again and again. A rank whose confirmation is
// lost is asked again. So datagrams may be lost, repeated and overtaken.
#pragma once

#include <chrono>
#include <cstdint>

#include "comm/verbs/address.hpp"

namespace fult::comm::detail {

class handshake {
  public:
    using clock = std::chrono::steady_clock;
    enum class stage : std::uint8_t {
        fresh,  // there is a queue pair, and nothing was exchanged
        asking, // this rank has something to send, and lacks the numbers of the other one
        half,   // it has them and can receive; the other rank may not be able to
        ready,  // both can receive
        failed
    };
    static constexpr std::chrono::milliseconds first_patience{10}, max_patience{320};

    stage current() const noexcept { return stage_; }
    bool is_ready() const noexcept { return stage_ == stage::ready; }
    bool has_failed() const noexcept { return stage_ == stage::failed; }
    // The queue pair has the other's numbers.
    bool is_connected() const noexcept { return connected_; }

    // This rank has something to send. True the first time: it must ask.
    bool request_connection(clock::time_point now) noexcept;
    // True if it must ask again. At most once for each time of patience, which doubles.
    bool needs_greeting(clock::time_point now) noexcept;
    // The queue pair was given the numbers of the other rank's.
    void mark_connected() noexcept;
    // A greeting, after connected. True if it must be answered by a confirmation.
    bool greeting_received(greeting_kind kind) noexcept;
    // Something has arrived on the connection: the other rank has sent it, so it is ready to receive.
    void message_received() noexcept;
    // False if it has failed before.
    bool fail() noexcept;

  private:
    stage stage_ = stage::fresh;
    bool has_request_ = false; // this rank has something to send
    bool connected_ = false;
    std::chrono::milliseconds patience_ = first_patience; // between two greetings
    clock::time_point next_greeting_{};
};

} // namespace fult::comm::detail
