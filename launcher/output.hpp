#pragma once

#include <string>
#include <string_view>

// Forwards the output of the ranks to the streams of fult-run.
namespace fult::run {

// An output stream of fult-run. It is written only as far as this does not block: a slow reader must not
// delay the bootstrap of the ranks.
class output {
  public:
    explicit output(int descriptor) noexcept : descriptor_(descriptor) {}

    int descriptor() const noexcept { return descriptor_; }
    void add(std::string_view text) { waiting_ += text; }
    bool waiting() const noexcept { return !waiting_.empty(); }
    // True if no more should be read from the ranks.
    bool full() const noexcept { return waiting_.size() > 256 * 1024; }

    // Writes as much as possible. Afterwards check error().
    void pump();
    // 0, or the errno of a failed write; later additions are dropped.
    int error() const noexcept { return error_; }

  private:
    int descriptor_;
    int error_ = 0;
    std::string waiting_;
};

// An output stream of a rank, split into lines. A line is forwarded when it is complete, or too long to
// buffer.
class line_reader {
  public:
    // `close_last`: appends a newline to an incomplete last line, so that no other rank's output follows on
    // it.
    line_reader(int descriptor, output &to, std::string prefix, bool close_last)
        : descriptor_(descriptor), to_(&to), prefix_(std::move(prefix)), close_last_(close_last) {}

    bool open() const noexcept { return descriptor_ >= 0; }
    int descriptor() const noexcept { return descriptor_; }
    bool wanted() const noexcept { return open() && !to_->full(); }

    // Reads once. Closes the descriptor at end of file.
    void pump();
    // Reads everything available and treats that as the end.
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
