// One line of JSON: the result of a benchmark program for bench/run.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bench {

class record {
  public:
    record();
    record(record &&) noexcept;
    ~record();

    record &add(std::string_view key, std::string_view value);
    record &add(std::string_view key, const char *value) { return add(key, std::string_view(value)); }
    record &add(std::string_view key, double value); // null where it is not finite
    template <std::signed_integral Number> record &add(std::string_view key, Number value) {
        return add_whole(key, static_cast<std::int64_t>(value));
    }
    template <std::unsigned_integral Number> record &add(std::string_view key, Number value) {
        return add_whole(key, static_cast<std::uint64_t>(value));
    }

    std::string text() const;

    // Writes the line at once, so that lines of a program that dies later are not lost.
    void print() const;

  private:
    record &add_whole(std::string_view key, std::int64_t value);
    record &add_whole(std::string_view key, std::uint64_t value);

    struct fields; // few files read the headers of the JSON library
    std::unique_ptr<fields> fields_;
};

} // namespace bench
