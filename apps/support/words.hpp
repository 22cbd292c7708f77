// The words of a text file, with the place of each: the readers of matrix files.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

#include "text_file.hpp"

namespace apps {

// Words are separated by white space. All errors are failures, and name the file; those of its text also line
// and column ("matrix.txt:3:7: ...").
class words {
  public:
    explicit words(const std::string &path)
        : path_(path), file_(open_text(path, "r")), buffer_(1 << 20, '\0') {}

    // The largest number if it is not known.
    std::uint64_t file_bytes() const {
        struct stat about;
        const bool known = fstat(fileno(file_.get()), &about) == 0 && S_ISREG(about.st_mode);
        return known ? std::uint64_t(about.st_size) : std::numeric_limits<std::uint64_t>::max();
    }

    // False at the end of the file.
    bool next() {
        int c = take();
        while (is_space(c))
            c = take();
        line_ = at_line_, column_ = at_column_;
        word_.clear();
        for (; c >= 0 && !is_space(c); c = take())
            if (word_.size() < longest)
                word_.push_back(char(c));
        return !word_.empty();
    }

    // Skips lines that begin with this character, and empty ones, up to the next word.
    void skip_comments(char mark) {
        for (int c = peek(); is_space(c) || c == mark; c = peek())
            if (take() == mark)
                while (peek() >= 0 && take() != '\n') {
                }
    }

    // The next word. At the end of the file an error that names what should be there.
    const std::string &word(const std::string &what) {
        if (!next())
            wrong("the file ends where " + what + " should be");
        return word_;
    }

    std::int64_t whole(const std::string &what, std::int64_t least, std::int64_t most) {
        const auto value = number<std::int64_t>("a whole number that fits", what);
        if (value < least || value > most)
            wrong(word_ + " is out of range for " + what + ": it may be " + std::to_string(least) + " to " +
                  std::to_string(most));
        return value;
    }

    double real(const std::string &what) {
        const auto value = number<double>("a number", what);
        if (!std::isfinite(value))
            wrong("'" + word_ + "' is not finite; expected " + what);
        return value;
    }

    // An error of the word that was read last.
    [[noreturn]] void wrong(const std::string &what) const {
        throw failure(path_ + ":" + std::to_string(line_) + ":" + std::to_string(column_) + ": " + what);
    }

    const std::string &word() const { return word_; }
    std::uint64_t line() const { return line_; } // of the word that was read last

  private:
    static constexpr std::size_t longest = 60; // more of a word is not shown, and is no number

    static bool is_space(int c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

    template <class Number> Number number(const char *kind, const std::string &what) {
        std::string_view text = word(what);
        if (text.starts_with('+'))
            text.remove_prefix(1);
        Number value{};
        const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
        if (read.ec != std::errc{} || read.ptr != text.data() + text.size())
            wrong("'" + word_ + "' is not " + kind + "; expected " + what);
        return value;
    }

    int peek() {
        if (position_ == filled_ && !ended_) {
            filled_ = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
            position_ = 0;
            if (std::ferror(file_.get()))
                throw failure("cannot read '" + path_ + "': " + std::strerror(errno));
            if (filled_ == 0) {
                advance();
                ended_ = true;
            }
        }
        return ended_ ? -1 : static_cast<unsigned char>(buffer_[position_]);
    }

    int take() {
        const int c = peek();
        if (c >= 0) {
            advance();
            ++position_;
            after_newline_ = c == '\n';
        }
        return c;
    }

    void advance() {
        if (after_newline_)
            ++at_line_, at_column_ = 1, after_newline_ = false;
        else
            ++at_column_;
    }

    std::string path_;
    open_file file_;
    std::string buffer_;
    std::size_t position_ = 0, filled_ = 0;
    std::uint64_t at_line_ = 1, at_column_ = 0; // of the character that was taken last
    bool after_newline_ = false, ended_ = false;
    std::uint64_t line_ = 1, column_ = 1;
    std::string word_;
};

} // namespace apps
