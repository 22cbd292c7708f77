#include "launcher/terminal.hpp"

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace fult::run {

terminal::terminal() : is_terminal_(::isatty(0) == 1), nothing_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
    if (nothing_ < 0)
        throw std::system_error(errno, std::generic_category(), "/dev/null");
    if (!is_terminal_) {
        reader_end_ = 0;
        return;
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "a pipe for the standard input");
    reader_end_ = ends[0];
    writer_end_ = ends[1];
    ::fcntl(writer_end_, F_SETFL, O_WRONLY | O_NONBLOCK);
}

terminal::~terminal() {
    close();
    started();
    ::close(nothing_);
}

void terminal::started() noexcept {
    if (is_terminal_ && reader_end_ >= 0)
        ::close(reader_end_); // so that writing fails once the rank has closed its end
    reader_end_ = -1;
}

bool terminal::in_background() const noexcept {
    return writer_end_ >= 0 && !ended_ && ::tcgetpgrp(0) != ::getpgrp();
}

int terminal::wants_to_read() const noexcept {
    return writer_end_ >= 0 && !ended_ && text_.empty() && !in_background() ? 0 : -1;
}

void terminal::read() {
    char some[4096];
    const ssize_t got = ::read(0, some, sizeof some);
    if (got > 0)
        text_.assign(some, static_cast<std::size_t>(got));
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        close();
}

void terminal::write() {
    const ssize_t done = ::write(writer_end_, text_.data(), text_.size());
    if (done > 0)
        text_.erase(0, static_cast<std::size_t>(done));
    else if (errno != EAGAIN && errno != EINTR)
        close();
}

void terminal::close() noexcept {
    if (writer_end_ >= 0)
        ::close(writer_end_);
    writer_end_ = -1;
    text_.clear();
    ended_ = true;
}

} // namespace fult::run
