#include "comm/device/endpoint_names.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

namespace {

using stored_label = std::array<std::atomic<std::uint64_t>, sizeof(endpoint_label) / sizeof(std::uint64_t)>;
static_assert(sizeof(stored_label) == sizeof(endpoint_label));

constexpr unsigned pairs = 2048; // of endpoints: each with its collective context
constinit std::array<stored_label, pairs> labels{};

} // namespace

void set_endpoint_label(unsigned number, const char *name) noexcept {
    FULT_ASSERT(number / 2 < pairs);
    endpoint_label label{};
    std::strncpy(label.data(), name, label.size() - 1);
    for (std::size_t i = 0; i < labels[0].size(); ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, label.data() + i * sizeof word, sizeof word);
        labels[number / 2][i].store(word, std::memory_order_relaxed);
    }
}

endpoint_label endpoint_label_of(unsigned number) noexcept {
    endpoint_label label{};
    for (std::size_t i = 0; number / 2 < pairs && i < labels[0].size(); ++i) {
        const std::uint64_t word = labels[number / 2][i].load(std::memory_order_relaxed);
        std::memcpy(label.data() + i * sizeof word, &word, sizeof word);
    }
    label.back() = '\0';
    return label;
}

} // namespace fult::comm::detail
