// A line on the terminal that says how far a program is.
#pragma once

#include <string>
#include <unistd.h>
#include <utility>

namespace apps {

// Shown on standard error if that is a terminal, and erased at the end.
class progress_line {
  public:
    // `reports`: false on all ranks but one.
    progress_line(std::string program, bool reports)
        : program_(std::move(program)), shown_(reports && ::isatty(STDERR_FILENO) == 1) {}
    progress_line(const progress_line &) = delete;
    progress_line &operator=(const progress_line &) = delete;
    ~progress_line() { write(""); }

    // Replaces the line. Tasks and threads may call it at the same time.
    void show(const std::string &what) const { write(program_ + ": " + what); }

  private:
    // In one piece. The line is a comfort: what cannot be written is left out.
    void write(const std::string &text) const {
        const std::string line = "\r\033[K" + text;
        if (shown_ && ::write(STDERR_FILENO, line.data(), line.size()) < 0)
            return;
    }

    std::string program_;
    bool shown_;
};

} // namespace apps
