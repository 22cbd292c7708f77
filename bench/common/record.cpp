#include "common/record.hpp"

#include <cstdio>

#include <nlohmann/json.hpp>

namespace bench {

using json = nlohmann::ordered_json;

struct record::fields {
    json all = json::object();

    template <class Value> void add(std::string_view key, Value value) { all[std::string(key)] = value; }
};

record::record() : fields_(std::make_unique<fields>()) {}
record::record(record &&) noexcept = default;
record::~record() = default;

record &record::add(std::string_view key, std::string_view value) {
    fields_->add(key, std::string(value));
    return *this;
}
record &record::add(std::string_view key, double value) {
    fields_->add(key, value);
    return *this;
}
record &record::add_whole(std::string_view key, std::int64_t value) {
    fields_->add(key, value);
    return *this;
}
record &record::add_whole(std::string_view key, std::uint64_t value) {
    fields_->add(key, value);
    return *this;
}

// Bytes that are no UTF-8 are replaced: a message of the system may have some.
std::string record::text() const { return fields_->all.dump(-1, ' ', false, json::error_handler_t::replace); }

void record::print() const {
    std::printf("%s\n", text().c_str());
    std::fflush(stdout);
}

} // namespace bench
