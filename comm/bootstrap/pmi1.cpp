#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm/bootstrap/bootstrap.hpp"
#include "comm/bootstrap/pmi1_wire.hpp"
#include "comm/bootstrap/support.hpp"

namespace fult::comm::detail {
namespace {

// Servers store a line in a buffer of 1024 bytes, whatever maximum they announce for values.
constexpr std::size_t max_written = 1000;

// Limit on an answer of the server, a process on this machine, that depends on no other rank.
constexpr std::chrono::milliseconds patience{30'000};

class pmi1_client final : public bootstrap {
  public:
    pmi1_client(int rank, int size, int socket, std::chrono::milliseconds timeout)
        : bootstrap(rank, size), socket_(socket), timeout_(timeout) {
        try {
            ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
            const pmi1_reply maxes = ask("cmd=get_maxes", "maxes");
            max_key_ = static_cast<std::size_t>(maxes.number("keylen_max", 1));
            max_value_ = static_cast<std::size_t>(maxes.number("vallen_max", 1));
            const pmi1_reply space = ask("cmd=get_my_kvsname", "my_kvsname");
            space_ = space.find("kvsname").value_or("");
        } catch (const pmi1_wire_error &error) {
            fail(error.what());
        }
        if (space_.empty())
            fail("no kvsname in its answer");
    }

    ~pmi1_client() override {
        if (!broken_.empty())
            return;
        try { // a server treats an end without this as a crash
            ask("cmd=finalize", "finalize_ack");
        } catch (const std::exception &) {
            return; // the server has ended, or counts this as a crash for lack of memory
        }
    }

    const char *name() const noexcept override { return "PMI-1"; }

    std::vector<std::string> exchange(std::string_view contribution) override {
        check_contribution(contribution);
        const std::size_t most = room();
        // A key can be set only once, so each exchange has its own keys.
        ++round_;
        std::size_t part = 0;
        for (const std::string &value : pmi1_encode(contribution, most))
            ask("cmd=put kvsname=" + space_ + " key=" + key(rank(), part++) + " value=" + value,
                "put_result");
        barrier();
        std::vector<std::string> all;
        all.reserve(static_cast<std::size_t>(size()));
        for (int from = 0; from < size(); ++from)
            all.push_back(from == rank() ? std::string(contribution) : get(from));
        return all;
    }

    void barrier() override { ask("cmd=barrier_in", "barrier_out", timeout_); }

    void abort(int status, std::string_view reason) noexcept override {
        write_reason(rank(), reason);
        try {
            const int shown = (status & 0xff) == 0 ? 1 : status & 0xff;
            send("cmd=abort exitcode=" + std::to_string(shown) + "\n", deadline(patience));
        } catch (...) { // the server has ended, and with it the other ranks
        }
        leave(status);
    }

  private:
    std::string key(int from, std::size_t part) const {
        return "fult-" + std::to_string(round_) + "-" + std::to_string(from) + "-" + std::to_string(part);
    }

    // Maximum length of a value, so that the line that puts it is not too long.
    std::size_t room() {
        const std::size_t key_size = 40; // of the longest key
        const std::size_t taken = std::strlen("cmd=put kvsname= key= value=") + space_.size() + key_size;
        const std::size_t stated = max_value_ - 1; // the server's maximum includes a terminating zero
        if (taken + 64 > max_written || stated < 16 || max_key_ <= 24)
            fail("keys of " + std::to_string(max_key_) + " and values of " + std::to_string(max_value_) +
                 " characters are too short");
        return std::min(stated, max_written - taken);
    }

    std::string get(int from) {
        pmi1_decoder decoder(max_contribution);
        try {
            for (std::size_t part = 0; !decoder.complete(); ++part) {
                const pmi1_reply reply =
                    ask("cmd=get kvsname=" + space_ + " key=" + key(from, part), "get_result", patience);
                const auto value = reply.find("value");
                if (!value)
                    throw pmi1_wire_error("no value for rank " + std::to_string(from));
                decoder.take(*value);
            }
            return decoder.bytes();
        } catch (const pmi1_wire_error &error) {
            fail(error.what());
        }
    }

    pmi1_reply ask(const std::string &line, std::string_view answer,
                   std::chrono::milliseconds time = patience) {
        if (!broken_.empty())
            throw bootstrap_error(broken_);
        const deadline until(time);
        send(line + "\n", until);
        try {
            for (;;) {
                if (const auto next = lines_.next()) {
                    pmi1_reply reply(*next);
                    reply.expect(answer);
                    return reply;
                }
                if (!wait_for(socket_, POLLIN, until))
                    fail("no answer to " + line.substr(0, line.find(' ')) + " for " + printed(time) +
                         "; has every rank come so far?");
                char some[4096];
                const ssize_t got = ::read(socket_, some, sizeof some);
                if (got > 0)
                    lines_.feed({some, static_cast<std::size_t>(got)});
                else if (got == 0 || (errno != EAGAIN && errno != EINTR))
                    fail("it has closed the connection");
            }
        } catch (const pmi1_wire_error &error) {
            fail(error.what());
        }
    }

    void send(std::string_view bytes, const deadline &until) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent > 0)
                bytes.remove_prefix(static_cast<std::size_t>(sent));
            else if (errno == EAGAIN && !wait_for(socket_, POLLOUT, until))
                fail("it does not read what this rank sends");
            else if (errno != EAGAIN && errno != EINTR)
                fail("it has closed the connection");
        }
    }

    [[noreturn]] void fail(const std::string &what) {
        broken_ = "fult: the launcher's PMI-1 server (PMI_FD): " + what;
        throw bootstrap_error(broken_);
    }

    int socket_;
    std::chrono::milliseconds timeout_;
    pmi1_lines lines_;
    std::size_t max_key_ = 0;
    std::size_t max_value_ = 0;
    std::string space_; // the name of the server's key-value space for this job
    unsigned round_ = 0;
    std::string broken_; // why no further call can succeed
};

} // namespace

std::unique_ptr<bootstrap> connect_pmi1(std::chrono::milliseconds timeout) {
    const int size = launcher_number("PMI_SIZE", 1, 1'000'000);
    const int rank = launcher_number("PMI_RANK", 0, size - 1);
    const int socket = launcher_number("PMI_FD", 0, 1'000'000);
    check_launcher_socket("PMI_FD", socket);
    return std::make_unique<pmi1_client>(rank, size, socket, timeout);
}

} // namespace fult::comm::detail
