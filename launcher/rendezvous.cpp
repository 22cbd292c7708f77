#include "launcher/rendezvous.hpp"

#include <utility>

namespace fult::run {

using comm::detail::run_failure;
using comm::detail::run_kind;

void rendezvous::arrive(int rank, comm::detail::run_message message, clock::time_point now) {
    auto &mine = arrived_[static_cast<std::size_t>(rank)];
    const std::string who = "rank " + std::to_string(rank);
    if (failure_.empty() && mine)
        fail(who + " called twice before the others came: one thread at a time may use the bootstrap");
    if (count_ == 0) {
        kind_ = message.kind;
        wait_ = std::chrono::milliseconds(message.value);
        until_ = now + wait_;
    }
    if (failure_.empty() && message.kind != kind_)
        fail(who + " and another one do not call the same: one calls a barrier, the other an exchange");
    mine = std::move(message.body);
    ++count_;
    if (!failure_.empty())
        fail(failure_, failure_kind_);
    else if (count_ == arrived_.size())
        complete();
}

void rendezvous::complete() {
    std::string body;
    if (kind_ == run_kind::exchange) {
        std::vector<std::string> parts;
        for (auto &each : arrived_)
            parts.push_back(std::move(*each));
        body = comm::detail::pack_all(parts);
    }
    const auto bytes = std::make_shared<const std::string>(comm::detail::printed(run_kind::done, 0, body));
    for (std::size_t rank = 0; rank < arrived_.size(); ++rank) {
        answers_.push_back({static_cast<int>(rank), bytes});
        arrived_[rank].reset();
    }
    count_ = 0;
}

void rendezvous::fail(const std::string &why, run_failure kind) {
    failure_ = why;
    failure_kind_ = kind;
    const auto bytes = std::make_shared<const std::string>(
        comm::detail::printed(run_kind::failed, static_cast<std::uint32_t>(kind), why));
    for (std::size_t rank = 0; rank < arrived_.size(); ++rank)
        if (arrived_[rank].has_value()) {
            answers_.push_back({static_cast<int>(rank), bytes});
            arrived_[rank].reset();
        }
    count_ = 0;
}

void rendezvous::gone(int rank, const std::string &why) {
    if (failure_.empty())
        fail("rank " + std::to_string(rank) + " " + why +
             ", and so will not come to a barrier or an exchange");
}

std::optional<rendezvous::clock::time_point> rendezvous::deadline() const noexcept {
    if (count_ == 0)
        return {};
    return until_;
}

void rendezvous::expire(clock::time_point now) {
    if (count_ == 0 || now < until_)
        return;
    fail(missing() + " did not come to " + (kind_ == run_kind::barrier ? "a barrier" : "an exchange") +
             " within " + std::to_string(wait_.count()) +
             " ms, where others wait: does every rank call the same?",
         run_failure::late_rank);
}

std::string rendezvous::missing() const {
    std::string list;
    int shown = 0;
    for (std::size_t rank = 0; rank < arrived_.size(); ++rank)
        if (!arrived_[rank].has_value() && ++shown <= 8)
            list += (list.empty() ? "" : ", ") + std::to_string(rank);
    if (shown > 8)
        list += " and " + std::to_string(shown - 8) + " more";
    return (shown == 1 ? "rank " : "ranks ") + list;
}

} // namespace fult::run
