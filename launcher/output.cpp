#include "launcher/output.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <poll.h>
#include <unistd.h>

namespace fult::run {
namespace {

constexpr std::size_t longest_line = 64 * 1024;
static_assert(longest_line >= PIPE_BUF);

} // namespace

void output::pump() {
    std::size_t written = 0;
    while (written < waiting_.size() && error_ == 0) {
        // A pipe that is ready takes PIPE_BUF bytes. The stream is shared with other processes, so it remains
        // blocking.
        pollfd each{descriptor_, POLLOUT, 0};
        if (::poll(&each, 1, 0) <= 0)
            break;
        const std::size_t size = std::min<std::size_t>(waiting_.size() - written, PIPE_BUF);
        const ssize_t done = ::write(descriptor_, waiting_.data() + written, size);
        if (done >= 0)
            written += static_cast<std::size_t>(done);
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            error_ = errno;
    }
    waiting_.erase(0, error_ == 0 ? written : waiting_.size());
}

void line_reader::take(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t newline = bytes.find('\n');
        const std::size_t size = newline == std::string_view::npos ? bytes.size() : newline + 1;
        line_ += bytes.substr(0, size);
        bytes.remove_prefix(size);
        if (newline == std::string_view::npos && line_.size() < longest_line)
            return;
        to_->add(prefix_);
        to_->add(line_);
        if (newline == std::string_view::npos && close_last_)
            to_->add("\n");
        line_.clear();
    }
}

line_reader::result line_reader::read_once() {
    char some[16 * 1024];
    const ssize_t got = ::read(descriptor_, some, sizeof some);
    if (got > 0) {
        take({some, static_cast<std::size_t>(got)});
        return result::some;
    }
    if (got < 0 && errno == EINTR)
        return result::some;
    return got < 0 && errno == EAGAIN ? result::none : result::end;
}

void line_reader::close() {
    if (!line_.empty()) {
        to_->add(prefix_);
        to_->add(line_);
        if (close_last_)
            to_->add("\n");
        line_.clear();
    }
    ::close(descriptor_);
    descriptor_ = -1;
}

void line_reader::pump() {
    if (open() && read_once() == result::end)
        close();
}

void line_reader::finish() {
    if (!open())
        return;
    // More than a pipe holds, but bounded: a process that escaped the cleanup may still write.
    for (int i = 0; i < 1024 && read_once() == result::some; ++i)
        ;
    close();
}

} // namespace fult::run
