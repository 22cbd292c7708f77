#include "comm/job/shares.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <fult/runtime.hpp>

#include "comm/base/library_thread.hpp"
#include "fult/base/numbers.hpp"

namespace fult::comm::detail {
namespace {

struct share {
    unsigned long workers = 0;
    std::vector<bool> processors;
};

constexpr unsigned long max_share = 1 << 20; // maximum number of workers and of processors

std::optional<unsigned long> take_number(std::string_view &text, char end) {
    const auto value = fult::detail::number_before<unsigned long>(text, end);
    return value && *value <= max_share ? value : std::nullopt;
}

// "WORKERS:N,N,N,"
share read_share(std::string_view text) {
    share result;
    const auto workers = take_number(text, ':');
    result.workers = workers.value_or(0);
    while (workers && !text.empty()) {
        const auto one = take_number(text, ',');
        if (!one)
            return {};
        if (*one >= result.processors.size())
            result.processors.resize(*one + 1);
        result.processors[*one] = true;
    }
    return result;
}

bool overlap(const share &a, const share &b) {
    for (std::size_t i = 0; i < std::min(a.processors.size(), b.processors.size()); ++i)
        if (a.processors[i] && b.processors[i])
            return true;
    return false;
}

} // namespace

std::string own_share() {
    std::string text = std::to_string(worker_count()) + ":";
    for (const unsigned each : list_of_processors_at_start())
        text += std::to_string(each) + ",";
    return text;
}

bool more_workers_than_processors(std::span<const std::string> shares, std::size_t own) {
    const share mine = read_share(shares[own]);
    share all;
    for (const std::string &text : shares) {
        const share each = read_share(text);
        if (!overlap(mine, each))
            continue;
        all.workers += each.workers;
        all.processors.resize(std::max(all.processors.size(), each.processors.size()));
        for (std::size_t i = 0; i < each.processors.size(); ++i)
            all.processors[i] = all.processors[i] || each.processors[i];
    }
    return all.workers > static_cast<unsigned long>(std::ranges::count(all.processors, true));
}

} // namespace fult::comm::detail
