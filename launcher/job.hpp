#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <vector>

#include "comm/bootstrap/run_message.hpp"
#include "launcher/arguments.hpp"
#include "launcher/guardian.hpp"
#include "launcher/output.hpp"
#include "launcher/rendezvous.hpp"
#include "launcher/signals.hpp"
#include "launcher/terminal.hpp"

// A job: all its ranks, from the start of the first until no process is left. One thread, one loop around
// poll().
namespace fult::run {

class job {
  public:
    explicit job(const arguments &order);
    ~job();

    job(const job &) = delete;
    job &operator=(const job &) = delete;

    // Returns the exit status. Throws start_error, std::system_error; the destructor ends all ranks that have
    // been started.
    int run();

    // The signal that ended the job, or 0.
    int ended_by() const noexcept { return ended_by_; }

  private:
    using clock = std::chrono::steady_clock;

    struct rank_state {
        struct piece {
            std::shared_ptr<const std::string> bytes;
            std::size_t sent;
        };
        pid_t process; // -1: it has ended
        int socket;    // -1: closed
        bool inside;   // it has called the bootstrap and not left it normally
        comm::detail::run_stream stream;
        std::vector<piece> to_send;
        line_reader out;
        line_reader err;
    };

    void start_all();
    void step();
    bool living() const noexcept;
    void say(const std::string &text);

    void on_signals();
    void on_ends();
    void on_end(int rank);
    void judge(int rank, int code, int status);
    void blame(int rank, const std::string &text);

    void read_from(int rank);
    void handle(int rank, comm::detail::run_message message);
    void condemn(int rank, const std::string &why);
    void close_socket(int rank);
    void send_answers();
    void send_to(int rank);

    void stop(int signal);
    void kill_all(int signal) noexcept;
    void output_failed(const output &stream);
    void sweep() noexcept;
    void finish_output();
    clock::time_point next_time() const;

    const arguments &order_;
    std::string name_;
    signals signals_; // before the guardian, whose process inherits the blocked signals
    guardian guard_;
    output out_{1};
    output err_{2};
    terminal input_;
    rendezvous rendezvous_;
    std::vector<rank_state> ranks_;
    int status_ = 0;
    int ended_by_ = 0;
    std::optional<clock::time_point> kill_at_; // set once the job is being stopped
    bool killed_ = false;
    std::vector<pollfd> polled_;
};

} // namespace fult::run
