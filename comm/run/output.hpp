#pragma once

#include <string>
#include <string_view>

// What the ranks write, on its way to the streams of fult-run.
namespace fult::run {

// A stream of ours. It is written to only as far as it takes without blocking: whoever reads it slowly must
// not keep the ranks from finding each other.
class output {
  public:
    explicit output(int descriptor) noexcept : descriptor_(descriptor) {}

    int descriptor() const noexcept { return descriptor_; }
    void add(std::string_view text) { waiting_ += text; }
    bool waiting() const noexcept { return !waiting_.empty(); }
    // No more should be read from the ranks.
    bool full() const noexcept { return waiting_.size() > 256 * 1024; }

    // Writes what it can. Afterwards error() tells.
    void pump();
    // 0, or the errno of a write that failed; what is added after that is dropped.
    int error() const noexcept { return error_; }

  private:
    int descriptor_;
    int error_ = 0;
    std::string waiting_;
};

// One stream of one rank, cut into lines. A line goes out when it is complete, or too long to be kept.
class line_reader {
  public:
    // `close_last`: an unfinished last line gets its newline, so that nothing of another rank follows on it.
    line_reader(int descriptor, output &to, std::string prefix, bool close_last)
        : descriptor_(descriptor), to_(&to), prefix_(std::move(prefix)), close_last_(close_last) {}

    bool open() const noexcept { return descriptor_ >= 0; }
    int descriptor() const noexcept { return descriptor_; }
    bool wanted() const noexcept { return open() && !to_->full(); }

    // Reads once. Closes the descriptor at its end.
    void pump();
    // Reads all there is, and takes that for the end.
    void finish();

  private:
    enum class result { some, none, end };
    result read_once();
    void close();
    void take(std::string_view bytes);

    int descriptor_;
    output *to_;
    std::string prefix_;
    bool close_last_;
    std::string line_;
};

} // namespace fult::run
