#pragma once

#include <string>

// Standard input for one rank. The rank inherits files and pipes directly, and consumes no more than it
// reads. A terminal cannot be inherited: the ranks are in process groups of their own, which the system stops
// when they read from it. So its lines are forwarded while fult-run is in the foreground.
namespace fult::run {

class terminal {
  public:
    // Throws std::system_error.
    terminal();
    ~terminal();
    terminal(const terminal &) = delete;
    terminal &operator=(const terminal &) = delete;

    // Descriptors for the reading rank and for the others.
    int for_reader() const noexcept { return reader_end_; }
    int for_others() const noexcept { return nothing_; }

    // All ranks have been started.
    void started() noexcept;
    // Descriptors to poll, or -1: the terminal for reading, the pipe for writing.
    int wants_to_read() const noexcept;
    int wants_to_write() const noexcept { return text_.empty() ? -1 : writer_end_; }
    // True if it must be checked again later: fult-run may come to the foreground.
    bool in_background() const noexcept;

    void read();
    void write();
    // The input is no longer read.
    void close() noexcept;

  private:
    bool is_terminal_;
    int reader_end_ = -1;
    int writer_end_ = -1;
    int nothing_;
    bool ended_ = false;
    std::string text_;
};

} // namespace fult::run
