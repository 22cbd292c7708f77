// One line of JSON: the result of a benchmark program for bench/run.
#pragma once

#include <concepts>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>

namespace bench {

class record {
  public:
    record &add(std::string_view key, std::string_view value) {
        start(key);
        out_ << '"';
        for (char c : value) {
            if (c == '"' || c == '\\')
                out_ << '\\';
            out_ << c;
        }
        out_ << '"';
        return *this;
    }
    record &add(std::string_view key, const char *value) { return add(key, std::string_view(value)); }
    template <class Number>
    requires std::integral<Number> || std::floating_point<Number> record &add(std::string_view key,
                                                                              Number value) {
        start(key);
        out_ << value;
        return *this;
    }

    // Writes the line at once, so that lines of a program that dies later are not lost.
    void print() const {
        std::printf("{%s}\n", out_.str().c_str());
        std::fflush(stdout);
    }

  private:
    void start(std::string_view key) {
        if (!first_)
            out_ << ", ";
        else
            out_.precision(10);
        first_ = false;
        out_ << '"' << key << "\": ";
    }

    std::ostringstream out_;
    bool first_ = true;
};

} // namespace bench
