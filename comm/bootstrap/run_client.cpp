#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm/bootstrap/bootstrap.hpp"
#include "comm/bootstrap/run_message.hpp"
#include "comm/bootstrap/support.hpp"

namespace fult::comm::detail {
namespace {

// fult-run detects and reports late ranks, so wait a little longer than it does.
constexpr std::chrono::milliseconds grace{5'000};

constexpr const char *gone = "fult: fult-run has ended, or has closed the connection to this rank";

class run_client final : public bootstrap {
  public:
    run_client(int rank, int size, int socket, std::chrono::milliseconds timeout)
        : bootstrap(rank, size),
          socket_(socket),
          timeout_(timeout),
          stream_(static_cast<std::size_t>(size) * (max_contribution + 4)) {}

    // The socket stays open: programs that a shell runs later in the same rank need it. A rank has left when
    // its process ends.
    ~run_client() override {
        try {
            send(printed(run_kind::leave, 0, {}), deadline(grace)); // also if another rank made no call
        } catch (const std::exception &) {                          // fult-run has ended; nothing to report
        }
    }

    const char *name() const noexcept override { return "fult-run"; }
    int launcher() const noexcept override { return socket_; }

    std::vector<std::string> exchange(std::string_view contribution) override {
        check_contribution(contribution);
        auto all =
            unpack_all(collective(run_kind::exchange, contribution).body, static_cast<std::size_t>(size()));
        if (!all) {
            broken_ =
                "fult: fult-run's answer to an exchange is not one part for each rank: are fult-run and the "
                "library of the same version?";
            throw bootstrap_error(broken_);
        }
        return std::move(*all);
    }

    void barrier() override { collective(run_kind::barrier, {}); }

    void abort(int status, std::string_view reason) noexcept override {
        try {
            send(printed(run_kind::abort, static_cast<std::uint32_t>(status), reason.substr(0, 4096)),
                 deadline(grace));
        } catch (...) { // fult-run has ended: report it here
            write_reason(rank(), reason);
        }
        leave(status);
    }

  private:
    run_message collective(run_kind kind, std::string_view body) {
        if (!broken_.empty())
            throw bootstrap_error(broken_);
        try {
            const auto wait =
                static_cast<std::uint32_t>(std::clamp<long long>(timeout_.count(), 1, 1'000'000'000));
            const deadline until(timeout_ + grace);
            send(printed(kind, wait, body), until);
            run_message answer = receive(until);
            if (answer.kind == run_kind::failed &&
                answer.value == static_cast<std::uint32_t>(run_failure::late_rank))
                throw late_rank("fult: " + answer.body);
            if (answer.kind == run_kind::failed)
                throw bootstrap_error("fult: " + answer.body);
            if (answer.kind != run_kind::done)
                throw bootstrap_error("fult: fult-run sent what only a rank may send");
            return answer;
        } catch (const bootstrap_error &error) {
            broken_ = error.what(); // a later answer would be taken for that of another call
            throw;
        }
    }

    void send(std::string_view bytes, const deadline &until) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent > 0) {
                bytes.remove_prefix(static_cast<std::size_t>(sent));
            } else if (errno == EAGAIN) {
                if (!wait_for(socket_, POLLOUT, until))
                    throw bootstrap_error(
                        "fult: fult-run does not read what this rank sends; is it stopped?");
            } else if (errno != EINTR) {
                throw bootstrap_error(gone);
            }
        }
    }

    run_message receive(const deadline &until) {
        for (;;) {
            try {
                if (auto message = stream_.next())
                    return std::move(*message);
            } catch (const run_message_error &error) {
                throw bootstrap_error(std::string("fult: fult-run sent ") + error.what() +
                                      ": are fult-run and the library of the same version?");
            }
            if (!wait_for(socket_, POLLIN, until))
                throw bootstrap_error("fult: fult-run has not answered for " + printed(timeout_ + grace) +
                                      "; is it stopped?");
            char some[16 * 1024];
            const ssize_t got = ::recv(socket_, some, sizeof some, MSG_DONTWAIT);
            if (got > 0)
                stream_.feed({some, static_cast<std::size_t>(got)});
            else if (got == 0 || (errno != EAGAIN && errno != EINTR))
                throw bootstrap_error(gone);
        }
    }

    int socket_;
    std::chrono::milliseconds timeout_;
    run_stream stream_;
    std::string broken_; // why no further call can succeed
};

} // namespace

std::unique_ptr<bootstrap> connect_fult_run(std::chrono::milliseconds timeout) {
    const int size = launcher_number("FULT_RUN_SIZE", 1, max_run_ranks);
    const int rank = launcher_number("FULT_RUN_RANK", 0, size - 1);
    const int socket = launcher_number("FULT_RUN_FD", 0, 1'000'000);
    check_launcher_socket("FULT_RUN_FD", socket);
    return std::make_unique<run_client>(rank, size, socket, timeout);
}

} // namespace fult::comm::detail
