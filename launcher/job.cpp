#include "launcher/job.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "comm/bootstrap/bootstrap.hpp"
#include "launcher/processors.hpp"
#include "launcher/start.hpp"

namespace fult::run {
namespace {

// Time between SIGTERM and SIGKILL, for ranks to end normally.
constexpr std::chrono::seconds mercy{2};

// No job's name is a prefix of another's: all end in the same number of digits.
std::string new_name() {
    char text[40];
    std::snprintf(text, sizeof text, "%d-%08x", static_cast<int>(::getpid()), std::random_device{}());
    return text;
}

std::string described(int code, int status) {
    if (code == CLD_EXITED)
        return "has ended with status " + std::to_string(status);
    return "was ended by signal " + std::to_string(status) + " (" + ::strsignal(status) + ")";
}

} // namespace

job::job(const arguments &order) : order_(order), name_(new_name()), guard_(name_), rendezvous_(order.ranks) {
    // Orphaned descendants of ranks become children of this process, which can then find them.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

job::~job() {
    kill_all(SIGKILL);
    for (const rank_state &each : ranks_)
        if (each.process > 0)
            ::waitpid(each.process, nullptr, 0);
    sweep();
    remove_shared_memory(name_);
}

int job::run() {
    start_all();
    while (living())
        step();
    sweep();
    finish_output();
    return status_;
}

void job::start_all() {
    std::vector<std::vector<int>> shares;
    bool too_few = false;
    if (order_.bind) {
        shares = share_out(allowed_processors(), order_.ranks);
        too_few = shares.empty();
    }
    shares.resize(static_cast<std::size_t>(order_.ranks));
    for (int rank = 0; rank < order_.ranks; ++rank) {
        const int input = rank == order_.input ? input_.for_reader() : input_.for_others();
        const started now =
            start_rank({order_.command, name_, signals_.before(), guard_, rank, order_.ranks, input,
                        shares[static_cast<std::size_t>(rank)], too_few, !order_.bind});
        const std::string prefix =
            order_.prefix ? std::string("[").append(std::to_string(rank)).append("] ") : "";
        const bool close_last = order_.prefix || order_.ranks > 1;
        ranks_.push_back({now.process,
                          now.socket,
                          false,
                          comm::detail::run_stream(comm::detail::max_contribution),
                          {},
                          line_reader(now.output, out_, prefix, close_last),
                          line_reader(now.error, err_, prefix, close_last)});
    }
    input_.started();
    if (order_.input < 0)
        input_.close();
}

bool job::living() const noexcept {
    return std::any_of(ranks_.begin(), ranks_.end(), [](const rank_state &each) { return each.process > 0; });
}

void job::say(const std::string &text) { err_.add("fult-run: " + text + "\n"); }

job::clock::time_point job::next_time() const {
    auto next = clock::now() + std::chrono::hours(1);
    if (const auto until = rendezvous_.deadline())
        next = std::min(next, *until);
    if (kill_at_ && !killed_)
        next = std::min(next, *kill_at_);
    if (input_.in_background())
        next = std::min(next, clock::now() + std::chrono::milliseconds(500));
    return next;
}

void job::step() {
    polled_.clear();
    const auto poll_for = [&](int descriptor, short events) {
        polled_.push_back({descriptor, events, 0}); // poll ignores negative descriptors
        return polled_.size() - 1;
    };
    poll_for(signals_.descriptor(), POLLIN);
    poll_for(out_.waiting() ? out_.descriptor() : -1, POLLOUT);
    poll_for(err_.waiting() ? err_.descriptor() : -1, POLLOUT);
    poll_for(input_.wants_to_read(), POLLIN);
    poll_for(input_.wants_to_write(), POLLOUT);
    const std::size_t first = polled_.size();
    for (const rank_state &each : ranks_) {
        poll_for(each.socket, static_cast<short>(each.to_send.empty() ? POLLIN : POLLIN | POLLOUT));
        poll_for(each.out.wanted() ? each.out.descriptor() : -1, POLLIN);
        poll_for(each.err.wanted() ? each.err.descriptor() : -1, POLLIN);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_time() - clock::now()).count();
    if (::poll(polled_.data(), polled_.size(), static_cast<int>(std::max<long long>(0, left))) < 0 &&
        errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "poll");

    if (polled_[3].revents != 0)
        input_.read();
    if (polled_[4].revents != 0)
        input_.write();
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        const pollfd *const mine = &polled_[first + 3 * rank];
        if ((mine[0].revents & ~POLLOUT) != 0)
            read_from(static_cast<int>(rank));
        if (mine[1].revents != 0)
            ranks_[rank].out.pump();
        if (mine[2].revents != 0)
            ranks_[rank].err.pump();
    }
    if (polled_[0].revents != 0)
        on_signals();
    rendezvous_.expire(clock::now());
    send_answers();
    if (kill_at_ && !killed_ && clock::now() >= *kill_at_) {
        killed_ = true;
        kill_all(SIGKILL);
    }
    for (output *stream : {&out_, &err_}) {
        stream->pump();
        output_failed(*stream);
    }
}

// ---- signals, and ranks that end --------------------------------------------------------------

void job::on_signals() {
    while (const auto signal = signals_.next()) {
        switch (*signal) {
        case SIGCHLD:
            on_ends();
            break;
        case SIGUSR1:
        case SIGUSR2:
            kill_all(*signal);
            break;
        case SIGTSTP: // Ctrl-Z stops all ranks, and fg continues all
            kill_all(SIGSTOP);
            ::raise(SIGSTOP);
            kill_all(SIGCONT);
            break;
        default:
            if (ended_by_ != 0) { // second request
                killed_ = true;
                kill_all(SIGKILL);
            } else {
                ended_by_ = *signal;
                if (status_ == 0)
                    status_ = 128 + *signal;
                stop(*signal);
            }
        }
    }
}

void job::on_ends() {
    for (;;) {
        // A rank remains a zombie for now: its process id cannot be reused before its group is killed.
        siginfo_t info{};
        if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
            return;
        const auto found = std::find_if(ranks_.begin(), ranks_.end(),
                                        [&](const rank_state &each) { return each.process == info.si_pid; });
        if (found != ranks_.end())
            on_end(static_cast<int>(found - ranks_.begin()));
        else // an orphaned descendant of a rank
            ::waitpid(info.si_pid, nullptr, WNOHANG);
    }
}

void job::on_end(int rank) {
    rank_state &mine = ranks_[static_cast<std::size_t>(rank)];
    read_from(rank); // its last messages
    ::kill(-mine.process, SIGKILL);
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(mine.process), &info, WEXITED) != 0 && errno == EINTR)
        ;
    guard_.forget(mine.process);
    mine.process = -1;
    close_socket(rank);
    if (rank == order_.input)
        input_.close();
    rendezvous_.gone(rank, described(info.si_code, info.si_status));
    judge(rank, info.si_code, info.si_status);
}

void job::judge(int rank, int code, int status) {
    if (kill_at_)
        return; // it was ended on purpose
    const bool well = code == CLD_EXITED && status == 0;
    if (well && !ranks_[static_cast<std::size_t>(rank)].inside)
        return;
    if (status_ == 0)
        status_ = well ? 1 : code == CLD_EXITED ? status : 128 + status;
    if (well)
        blame(rank,
              "has exited with status 0 without ending its communication; does it call exit() while it has "
              "a context?");
    else if (code != CLD_EXITED || order_.ranks > 1)
        blame(rank, described(code, status));
    if (living() && !order_.keep_going)
        stop(SIGTERM);
}

void job::blame(int rank, const std::string &text) {
    say("rank " + std::to_string(rank) + " " + text +
        (!living()           ? ""
         : order_.keep_going ? "; the others go on"
                             : "; ending the others"));
}

void job::stop(int signal) {
    if (!kill_at_)
        kill_at_ = clock::now() + mercy;
    kill_all(signal);
    kill_all(SIGCONT); // a stopped process would not react
}

void job::kill_all(int signal) noexcept {
    for (const rank_state &each : ranks_)
        if (each.process > 0)
            ::kill(-each.process, signal);
}

// ---- collective calls of the ranks ------------------------------------------------------------

void job::read_from(int rank) {
    rank_state &mine = ranks_[static_cast<std::size_t>(rank)];
    while (mine.socket >= 0) {
        char some[16 * 1024];
        const ssize_t got = ::recv(mine.socket, some, sizeof some, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) { // closed: it is about to end, which on_end() reports; or it does not use the socket
            close_socket(rank);
            return;
        }
        mine.stream.feed({some, static_cast<std::size_t>(got)});
        try {
            while (auto message = mine.stream.next())
                handle(rank, std::move(*message));
        } catch (const comm::detail::run_message_error &error) {
            condemn(rank, error.what());
        }
    }
}

void job::handle(int rank, comm::detail::run_message message) {
    using comm::detail::run_kind;
    switch (message.kind) {
    case run_kind::leave:
        ranks_[static_cast<std::size_t>(rank)].inside = false;
        break;
    case run_kind::exchange:
    case run_kind::barrier:
        ranks_[static_cast<std::size_t>(rank)].inside = true;
        rendezvous_.arrive(rank, std::move(message), clock::now());
        break;
    case run_kind::abort: {
        if (kill_at_)
            break;
        const int status = static_cast<int>(message.value & 0xff);
        if (status_ == 0)
            status_ = status == 0 ? 1 : status;
        say("rank " + std::to_string(rank) + " ends all ranks: " + message.body);
        stop(SIGTERM);
        break;
    }
    default:
        condemn(rank, "a message that only fult-run sends");
    }
}

void job::condemn(int rank, const std::string &why) {
    say("rank " + std::to_string(rank) + " sent " + why +
        " on FULT_RUN_FD; its connection is closed. Are fult-run and the library of the same version?");
    close_socket(rank);
    rendezvous_.gone(rank, "sent " + why);
}

void job::close_socket(int rank) {
    rank_state &mine = ranks_[static_cast<std::size_t>(rank)];
    if (mine.socket >= 0)
        ::close(mine.socket);
    mine.socket = -1;
    mine.to_send.clear();
}

void job::send_answers() {
    for (auto &[rank, bytes] : rendezvous_.take_answers())
        if (rank_state &mine = ranks_[static_cast<std::size_t>(rank)]; mine.socket >= 0)
            mine.to_send.push_back({bytes, 0});
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
        send_to(static_cast<int>(rank));
}

void job::send_to(int rank) {
    rank_state &mine = ranks_[static_cast<std::size_t>(rank)];
    while (!mine.to_send.empty()) {
        auto &[bytes, sent] = mine.to_send.front();
        const ssize_t done =
            ::send(mine.socket, bytes->data() + sent, bytes->size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (done < 0 && errno == EAGAIN)
            return;
        if (done < 0 && errno != EINTR) {
            close_socket(rank);
            return;
        }
        sent += done > 0 ? static_cast<std::size_t>(done) : 0;
        if (sent == bytes->size())
            mine.to_send.erase(mine.to_send.begin());
    }
}

// ---- end of the job ---------------------------------------------------------------------------

void job::output_failed(const output &stream) {
    if (stream.error() == 0 || kill_at_)
        return;
    if (stream.error() != EPIPE) // a reader that closes early, such as head, is not an error
        say(std::string("writing the output of the ranks: ") + std::strerror(stream.error()));
    if (status_ == 0)
        status_ = stream.error() == EPIPE ? 128 + SIGPIPE : 1;
    stop(SIGTERM);
}

// Kills remaining descendants of ranks in process groups of their own.
void job::sweep() noexcept {
    const auto until = clock::now() + mercy;
    for (bool some = true; some && clock::now() < until;) {
        some = false;
        std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
        for (pid_t child = 0; children >> child;) {
            if (child == guard_.process())
                continue;
            some = true;
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, WNOHANG);
        }
        if (some)
            ::poll(nullptr, 0, 1);
    }
}

void job::finish_output() {
    for (rank_state &each : ranks_) {
        each.out.finish();
        each.err.finish();
    }
    for (output *stream : {&out_, &err_})
        for (stream->pump(); stream->waiting() && ended_by_ == 0; stream->pump()) {
            pollfd ready[2] = {{stream->descriptor(), POLLOUT, 0}, {signals_.descriptor(), POLLIN, 0}};
            ::poll(ready, 2, -1);
            on_signals(); // in case the output is not read, and Ctrl-C is pressed
        }
}

} // namespace fult::run
