#include "comm/device/endpoint_state.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

#include <fult/detail/assertion.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/detail/service.hpp>
#include <fult/spawn.hpp>

#include "comm/device/describe.hpp"
#include "comm/device/endpoint_names.hpp"
#include "fult/base/option_row.hpp"

namespace fult::comm::detail {
namespace {

[[noreturn]] void handler_failed(std::uint16_t endpoint, const status &envelope, const char *what) noexcept {
    char text[512];
    std::snprintf(text, sizeof text,
                  "the handler of %s threw on a message from rank %d, tag %u: %s; catch it in the handler",
                  endpoint_text(endpoint).text, envelope.source, envelope.tag, what);
    fult::detail::misuse("comm::endpoint", text);
}

// No caller waits for the handler, so its exceptions are fatal.
void call(const message_handler &handler, std::uint16_t endpoint, const status &envelope,
          std::span<const std::byte> bytes) noexcept {
    try {
        handler(envelope, bytes);
    } catch (const std::exception &error) {
        handler_failed(endpoint, envelope, error.what());
    } catch (...) {
        handler_failed(endpoint, envelope, "an exception that is no std::exception");
    }
}

} // namespace

endpoint_state::endpoint_state(detail::device &device, std::uint16_t number, endpoint_options settings,
                               bool as_collective_context, endpoint_origin origin)
    : from_(std::move(origin)),
      device(device),
      id(number),
      options(std::move(settings)),
      rank(own_rank(device.rank())),
      size(from_.members ? from_.members->size() : device.size()),
      is_collective_context(as_collective_context),
      needs_screening_(!is_whole_job()) {
    FULT_ASSERT(rank >= 0 && rank < size, "this rank is one of them");
    check_options(options);
    if (options.handler) // tasks may still use it after the end of the endpoint
        handler_ = std::make_shared<const message_handler>(options.handler);
    if (options.wildcards && matches())
        wildcards_ = std::make_unique<wildcard_matcher>();
}

endpoint_state::~endpoint_state() {
    if (!is_collective_context)
        set_endpoint_label(id, "");
    device.detach(*this);
    release_messages();
}

void endpoint_state::check_options(const endpoint_options &options) {
    fult::detail::require_size(options, "fult-comm: endpoint");
    if ((options.delivery == delivery::handler || options.delivery == delivery::task) && !options.handler)
        throw std::invalid_argument("fult-comm: an endpoint whose messages are handled needs a handler");
    if (options.rank_ended && options.delivery != delivery::handler)
        throw std::invalid_argument(
            "fult-comm: rank_ended is for endpoints whose messages are handled (delivery::handler)");
}

// Ranks ---------------------------------------------------------------------------------------------------------------

std::string endpoint_state::name_of(int own) const { return rank_name(own, world_rank(own)); }

bool endpoint_state::any_failed() const noexcept {
    if (is_whole_job() || !device.peers().any_failed())
        return device.peers().any_failed();
    const std::vector<int> &all = from_.members->in_job();
    return std::any_of(all.begin(), all.end(), [&](int each) { return device.has_failed(each); });
}

// True if it has other ranks and all of them have failed or left.
bool endpoint_state::is_isolated() const noexcept {
    if (is_whole_job())
        return device.peers().is_isolated();
    if (size == 1 || !device.peers().any_departed())
        return false;
    const std::vector<int> &all = from_.members->in_job();
    return std::all_of(all.begin(), all.end(), [&](int each) {
        return each == device.rank() || device.has_failed(each) || device.has_left(each);
    });
}

// Arguments -----------------------------------------------------------------------------------------------------------

void endpoint_state::refuse_rank(const char *call, int named) const {
    const bool is_alone = is_whole_job() && size == 1 && named > 0; // probably started without a launcher
    throw std::out_of_range("fult-comm: " + std::string(call) + ": there is no rank " +
                            std::to_string(named) + "; the " + (is_whole_job() ? "job" : "endpoint") +
                            " has " + std::to_string(size) +
                            (is_alone ? ": start the program with `fult-run -n 2` for two" : ""));
}

void endpoint_state::check_source(const char *call, int source, std::int64_t tag) const {
    if (!matches())
        throw std::invalid_argument(
            "fult-comm: " + std::string(call) +
            ": this endpoint's messages are not matched; make one with delivery::matched");
    if ((source == any_source || tag == any_tag) && !wildcards_)
        throw std::invalid_argument("fult-comm: " + std::string(call) +
                                    ": any_source and any_tag need an endpoint that was made with wildcards");
    if (source != any_source)
        check_rank(call, source);
    if (tag != any_tag)
        check_tag(call, tag);
}

void endpoint_state::refuse_tag(const char *call, std::int64_t tag) {
    throw std::out_of_range("fult-comm: " + std::string(call) + ": tag " + std::to_string(tag) +
                            "; tags are 0 to 4294967295");
}

// Matching ------------------------------------------------------------------------------------------------------------

bool endpoint_state::remove(receive &r) noexcept {
    return wildcards_ ? wildcards_->remove(r) : device.matches().remove(r);
}

std::optional<status> endpoint_state::peek(int source, std::int64_t tag) noexcept {
    std::optional<status> found;
    const match_pattern p = pattern(source, tag);
    const auto look = [&](match_item &m) {
        found = own(static_cast<unexpected_message &>(static_cast<wildcard_item &>(m)).envelope);
    };
    wildcards_ ? wildcards_->peek(p, look) : device.matches().peek(p.key, match_kind::message, look);
    return found;
}

unexpected_message *endpoint_state::take(int source, std::int64_t tag) noexcept {
    FULT_ASSERT(matches());
    const match_pattern p = pattern(source, tag);
    if (wildcards_)
        return static_cast<unexpected_message *>(wildcards_->take_message(p));
    return static_cast<unexpected_message *>(
        static_cast<wildcard_item *>(device.matches().take(p.key, match_kind::message)));
}

receive *endpoint_state::take_orphans(int gone) noexcept {
    if (!has_member(gone))
        return nullptr;
    const bool alone = is_isolated();
    return static_cast<receive *>(remove_if(match_kind::receive, [&](wildcard_item &r) {
        const int source = static_cast<receive &>(r).source;
        return source == gone || is_collective_context || (source == any_source && alone);
    }));
}

std::size_t endpoint_state::waiting_receives() noexcept {
    std::size_t count = 0;
    remove_if(match_kind::receive, [&](wildcard_item &) {
        ++count;
        return false;
    });
    return count;
}

unexpected_message *endpoint_state::take_messages() noexcept {
    if (!matches())
        return nullptr;
    return static_cast<unexpected_message *>(
        remove_if(match_kind::message, [](wildcard_item &) { return true; }));
}

// Other deliveries ----------------------------------------------------------------------------------------------------

void endpoint_state::call_handler(const status &envelope, std::span<const std::byte> bytes) noexcept {
    const fult::detail::no_suspension_in_spawn meanwhile; // its thread has more calls to make
    call(options.handler, id, own(envelope), bytes);
}

void endpoint_state::call_rank_ended(int in_job, errc reason) noexcept {
    FULT_ASSERT(options.rank_ended && has_member(in_job));
    const fult::detail::no_suspension_in_spawn meanwhile;
    try {
        options.rank_ended(own_rank(in_job), reason);
    } catch (...) {
        char text[512];
        std::snprintf(text, sizeof text, "rank_ended of %s threw; catch it there", endpoint_text(id).text);
        fult::detail::misuse("comm::endpoint", text);
    }
}

bool endpoint_state::deliver_to_self(const status &envelope, std::span<const std::byte> bytes) noexcept {
    if (options.delivery != delivery::handler)
        return deliver(envelope, bytes);
    call_handler(envelope, bytes);
    return true;
}

bool endpoint_state::deliver(const status &envelope, std::span<const std::byte> bytes) noexcept {
    if (options.delivery == delivery::handler)
        return is_after_end(envelope) || device.handlers().add(*this, envelope, bytes);
    std::unique_ptr<std::byte[]> copy = copy_of(bytes);
    return copy && deliver(envelope, copy);
}

bool endpoint_state::deliver(const status &envelope, std::unique_ptr<std::byte[]> &bytes) noexcept {
    FULT_ASSERT(!matches() && bytes);
    const fult::detail::no_suspension_in_spawn meanwhile; // it may spawn under the device's lock
    switch (options.delivery) {
    case delivery::handler:
        return is_after_end(envelope) || device.handlers().add(*this, envelope, bytes);
    case delivery::task:
        try {
            spawn([handler = handler_, envelope = own(envelope), at = bytes.get(), number = id] {
                const std::unique_ptr<std::byte[]> held(at);
                call(*handler, number, envelope, {held.get(), envelope.size});
            }).detach();
        } catch (const std::exception &) { // std::system_error, std::bad_alloc: no slot or no memory
            return false;
        }
        (void)bytes.release(); // owned by the task
        return true;
    case delivery::queued: {
        const std::lock_guard guard(queue_lock_);
        try {
            queue_.emplace_back();
        } catch (const std::bad_alloc &) {
            return false;
        }
        queue_.back() = {envelope, std::move(bytes)};
        return true;
    }
    case delivery::matched:
        break;
    }
    return true;
}

bool endpoint_state::is_drained() noexcept {
    const std::lock_guard guard(queue_lock_);
    return queue_.empty() && transfers_ == 0;
}

std::vector<ordered_message *> endpoint_state::waiting_at_senders() {
    std::vector<ordered_message *> all;
    for (auto &[source, line] : ordered_)
        for (ordered_message &each : line)
            if (each.state == ordered_message::waiting)
                all.push_back(&each);
    return all;
}

// Releases what a queue still holds at its end. Messages in transfer are released by their transfers.
void endpoint_state::release_messages() noexcept {
    for (const message &each : queue_)
        device.flow().release_queued(each.envelope);
    for (auto &[source, line] : ordered_)
        for (ordered_message &each : line)
            if (each.state == ordered_message::waiting)
                device.refuse_message(each.envelope.source, each.rts);
            else if (each.state == ordered_message::complete && is_accounted())
                device.flow().release_queued(each.envelope);
}

ordered_message *endpoint_state::reserve(int source) noexcept {
    try {
        return &ordered_[source].emplace_back();
    } catch (const std::bad_alloc &) {
        if (const auto line = ordered_.find(source); line != ordered_.end() && line->second.empty())
            ordered_.erase(line); // it would never be visited
        return nullptr;
    }
}

bool endpoint_state::deliver_in_order(const status &envelope, std::span<const std::byte> bytes) noexcept {
    FULT_ASSERT(!matches() && envelope.size == bytes.size());
    bool in = false;
    if (!ordered_.contains(envelope.source)) {
        in = deliver(envelope, bytes);
    } else if (std::unique_ptr<std::byte[]> copy = copy_of(bytes)) {
        if (ordered_message *at = reserve(envelope.source)) {
            in = true;
            at->state = ordered_message::complete;
            at->envelope = envelope;
            at->bytes = std::move(copy);
        }
    }
    if (in && is_accounted())
        device.flow().account_queued(envelope);
    return in;
}

// Returns false if some messages remain for lack of memory.
bool endpoint_state::deliver_ready(int source) noexcept {
    const auto found = ordered_.find(source);
    if (found == ordered_.end())
        return true;
    std::deque<ordered_message> &line = found->second;
    FULT_ASSERT(!line.empty(), "a line without messages is erased");
    for (; !line.empty() && line.front().state >= ordered_message::complete; line.pop_front())
        if (line.front().state == ordered_message::complete &&
            !deliver(line.front().envelope, line.front().bytes))
            return false;
    if (line.empty())
        ordered_.erase(found);
    return true;
}

bool endpoint_state::deliver_all_ready() noexcept {
    bool all = true;
    for (auto each = ordered_.begin(); each != ordered_.end();) {
        const int source = each->first;
        ++each; // deliver_ready may erase this one, but no other
        all = deliver_ready(source) && all;
    }
    return all;
}

std::optional<message> endpoint_state::dequeue() noexcept {
    std::optional<message> first;
    {
        const std::lock_guard guard(queue_lock_);
        if (queue_.empty())
            return std::nullopt;
        first = std::move(queue_.front());
        queue_.pop_front();
    }
    device.flow().release_queued(first->envelope);
    first->envelope = own(first->envelope);
    device.resume_senders();
    return first;
}

void refuse_empty_endpoint(const char *call) {
    throw std::invalid_argument(
        std::string("fult-comm: ").append(call).append(": the endpoint is empty (moved from?)"));
}

} // namespace fult::comm::detail
