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

namespace fult::comm::detail {
namespace {

[[noreturn]] void handler_failed(std::uint16_t endpoint, const status &about, const char *what) noexcept {
    char text[512];
    std::snprintf(text, sizeof text,
                  "the handler of %s threw on a message from rank %d, tag %u: %s; catch it in the handler",
                  endpoint_text(endpoint).text, about.source, about.tag, what);
    fult::detail::misuse("comm::endpoint", text);
}

// No caller waits for the handler, so its exceptions are fatal.
void call(const message_handler &handler, std::uint16_t endpoint, const status &about,
          std::span<const std::byte> bytes) noexcept {
    try {
        handler(about, bytes);
    } catch (const std::exception &error) {
        handler_failed(endpoint, about, error.what());
    } catch (...) {
        handler_failed(endpoint, about, "an exception that is no std::exception");
    }
}

} // namespace

endpoint_state::endpoint_state(device &device, std::uint16_t number, endpoint_options options,
                               bool as_collective_context, endpoint_origin origin)
    : from_(std::move(origin)),
      on(device),
      id(number),
      how(std::move(options)),
      rank(own_rank(device.rank())),
      size(from_.members ? from_.members->size() : device.size()),
      is_collective_context(as_collective_context),
      screens_(!is_whole_job()) {
    FULT_ASSERT(rank >= 0 && rank < size, "this rank is one of them");
    check_options(how);
    if (how.handler) // tasks may still use it after the end of the endpoint
        handler_ = std::make_shared<const message_handler>(how.handler);
    if (how.wildcards && matches())
        wild_ = std::make_unique<wildcard_matcher>();
}

endpoint_state::~endpoint_state() {
    if (!is_collective_context)
        set_endpoint_label(id, "");
    on.detach(*this);
    let_go();
}

void endpoint_state::check_options(const endpoint_options &how) {
    if ((how.how == delivery::handled || how.how == delivery::as_a_task) && !how.handler)
        throw std::invalid_argument("fult-comm: an endpoint whose messages are handled needs a handler");
    if (how.rank_ended && how.how != delivery::handled)
        throw std::invalid_argument(
            "fult-comm: rank_ended is for endpoints whose messages are handled (delivery::handled)");
}

// Ranks ---------------------------------------------------------------------------------------------------------------

std::string endpoint_state::name_of(int own) const { return rank_name(own, world_rank(own)); }

bool endpoint_state::any_failed() const noexcept {
    if (is_whole_job() || !on.peers().any_failed())
        return on.peers().any_failed();
    const std::vector<int> &all = from_.members->in_job();
    return std::any_of(all.begin(), all.end(), [&](int each) { return on.has_failed(each); });
}

// True if it has other ranks and all of them have failed or left.
bool endpoint_state::is_left_alone() const noexcept {
    if (is_whole_job())
        return on.peers().is_left_alone();
    if (size == 1 || !on.peers().any_departed())
        return false;
    const std::vector<int> &all = from_.members->in_job();
    return std::all_of(all.begin(), all.end(), [&](int each) {
        return each == on.rank() || on.has_failed(each) || on.has_left(each);
    });
}

// Arguments -----------------------------------------------------------------------------------------------------------

void endpoint_state::check_rank(const char *call, int named) const {
    if (named >= 0 && named < size)
        return;
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
    if ((source == any_source || tag == any_tag) && !wild_)
        throw std::invalid_argument("fult-comm: " + std::string(call) +
                                    ": any_source and any_tag need an endpoint that was made with wildcards");
    if (source != any_source)
        check_rank(call, source);
    if (tag != any_tag)
        check_tag(call, tag);
}

std::uint32_t endpoint_state::check_tag(const char *call, std::int64_t tag) {
    if (tag < 0 || tag > 0xffff'ffff)
        throw std::out_of_range("fult-comm: " + std::string(call) + ": tag " + std::to_string(tag) +
                                "; tags are 0 to 4294967295");
    return static_cast<std::uint32_t>(tag);
}

// Matching ------------------------------------------------------------------------------------------------------------

match_pattern endpoint_state::pattern(int source, std::int64_t tag) const noexcept {
    const auto rank = static_cast<std::uint32_t>(source == any_source ? 0 : source);
    return {match_key(id, rank, static_cast<std::uint32_t>(tag == any_tag ? 0 : tag)), source == any_source,
            tag == any_tag};
}

arrived *endpoint_state::post(receive &r) noexcept {
    FULT_ASSERT(matches() && r.at == this && r.endpoint == id && r.finished);
    const match_pattern what = pattern(r.source, r.tag);
    if (wild_)
        return static_cast<arrived *>(wild_->post(what, r));
    return static_cast<arrived *>(on.matches().access(what.key, r, match_kind::receive));
}

receive *endpoint_state::arrive(arrived &m) noexcept {
    FULT_ASSERT(matches());
    const std::uint64_t key = match_key(id, static_cast<std::uint32_t>(m.about.source), m.about.tag);
    if (wild_)
        return static_cast<receive *>(wild_->arrive(key, m));
    return static_cast<receive *>(on.matches().access(key, m, match_kind::message));
}

bool endpoint_state::remove(receive &r) noexcept { return wild_ ? wild_->remove(r) : on.matches().remove(r); }

std::optional<status> endpoint_state::look(int source, std::int64_t tag) noexcept {
    std::optional<status> found;
    const match_pattern what = pattern(source, tag);
    if (wild_)
        wild_->look(what, [&](wildcard_item &m) { found = own(static_cast<arrived &>(m).about); });
    else
        on.matches().look(what.key, match_kind::message,
                          [&](match_item &m) { found = own(static_cast<arrived &>(m).about); });
    return found;
}

arrived *endpoint_state::take(int source, std::int64_t tag) noexcept {
    FULT_ASSERT(matches());
    const match_pattern what = pattern(source, tag);
    if (wild_)
        return static_cast<arrived *>(wild_->take_message(what));
    return static_cast<arrived *>(
        static_cast<wildcard_item *>(on.matches().take(what.key, match_kind::message)));
}

receive *endpoint_state::orphans(int gone) noexcept {
    if (!has_member(gone))
        return nullptr;
    if (wild_)
        return static_cast<receive *>(
            wild_->remove_if(match_kind::receive, [&, alone = is_left_alone()](wildcard_item &r) {
                const int source = static_cast<receive &>(r).source;
                return source == gone || (source == any_source && alone);
            }));
    return static_cast<receive *>(
        static_cast<wildcard_item *>(on.matches().remove_if(match_kind::receive, [&](match_item &i) {
            const auto &r = static_cast<receive &>(i);
            return r.at == this && (r.source == gone || is_collective_context);
        })));
}

std::size_t endpoint_state::waiting_receives() noexcept {
    std::size_t count = 0;
    if (wild_)
        return wild_->count(match_kind::receive);
    on.matches().remove_if(match_kind::receive, [&](match_item &i) {
        count += static_cast<receive &>(i).at == this ? 1 : 0;
        return false;
    });
    return count;
}

arrived *endpoint_state::take_messages() noexcept {
    if (!matches())
        return nullptr;
    match_item *first =
        wild_ ? wild_->remove_if(match_kind::message, [](wildcard_item &) { return true; })
              : on.matches().remove_if(match_kind::message, [&](match_item &i) { return i.key >> 52 == id; });
    return static_cast<arrived *>(static_cast<wildcard_item *>(first));
}

// Other deliveries ----------------------------------------------------------------------------------------------------

void endpoint_state::call_handler(const status &about, std::span<const std::byte> bytes) noexcept {
    const fult::detail::no_suspension_in_spawn meanwhile; // its thread has more calls to make
    call(how.handler, id, own(about), bytes);
}

void endpoint_state::call_rank_ended(int in_job, errc why) noexcept {
    FULT_ASSERT(how.rank_ended && has_member(in_job));
    const fult::detail::no_suspension_in_spawn meanwhile;
    try {
        how.rank_ended(own_rank(in_job), why);
    } catch (...) {
        char text[512];
        std::snprintf(text, sizeof text, "rank_ended of %s threw; catch it there", endpoint_text(id).text);
        fult::detail::misuse("comm::endpoint", text);
    }
}

bool endpoint_state::deliver_here(const status &about, std::span<const std::byte> bytes) noexcept {
    if (how.how != delivery::handled)
        return deliver(about, bytes);
    call_handler(about, bytes);
    return true;
}

bool endpoint_state::deliver(const status &about, std::span<const std::byte> bytes) noexcept {
    if (how.how == delivery::handled)
        return comes_too_late(about) || on.handlers().add(*this, about, bytes);
    std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[bytes.size()]);
    if (!copy)
        return false;
    if (!bytes.empty())
        std::memcpy(copy.get(), bytes.data(), bytes.size());
    return deliver(about, copy);
}

bool endpoint_state::deliver(const status &about, std::unique_ptr<std::byte[]> &bytes) noexcept {
    FULT_ASSERT(!matches() && bytes);
    const fult::detail::no_suspension_in_spawn meanwhile; // it may spawn under the device's lock
    switch (how.how) {
    case delivery::handled:
        return comes_too_late(about) || on.handlers().add(*this, about, bytes);
    case delivery::as_a_task:
        try {
            spawn([handler = handler_, about = own(about), at = bytes.get(), number = id] {
                const std::unique_ptr<std::byte[]> held(at);
                call(*handler, number, about, {held.get(), about.size});
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
        queue_.back() = {about, std::move(bytes)};
        return true;
    }
    case delivery::matched:
        break;
    }
    return true;
}

bool endpoint_state::has_run_dry() noexcept {
    const std::lock_guard guard(queue_lock_);
    return queue_.empty() && coming_ == 0;
}

std::vector<place_in_line *> endpoint_state::offered() {
    std::vector<place *> all;
    for (auto &[source, line] : behind_)
        for (place &each : line)
            if (each.how == place::offered)
                all.push_back(&each);
    return all;
}

// Releases what a queue still holds at its end. Messages in transfer are released by their transfers.
void endpoint_state::let_go() noexcept {
    for (const message &each : queue_)
        on.flow().no_longer_in_queue(each.about);
    for (auto &[source, line] : behind_)
        for (place &each : line)
            if (each.how == place::offered)
                on.leave_at_sender(each.about.source, each.offer);
            else if (each.how == place::here && counts())
                on.flow().no_longer_in_queue(each.about);
}

endpoint_state::place *endpoint_state::reserve(int source) noexcept {
    try {
        std::deque<place> &line = behind_[source];
        try {
            return &line.emplace_back();
        } catch (const std::bad_alloc &) {
            if (line.empty()) // an empty line would never be visited
                behind_.erase(source);
            return nullptr;
        }
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

bool endpoint_state::deliver_in_order(const status &about, std::span<const std::byte> bytes) noexcept {
    FULT_ASSERT(!matches() && about.size == bytes.size());
    bool in = false;
    if (!behind_.contains(about.source)) {
        in = deliver(about, bytes);
    } else if (std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[bytes.size()]); copy) {
        if (place *at = reserve(about.source)) {
            in = true;
            if (!bytes.empty())
                std::memcpy(copy.get(), bytes.data(), bytes.size());
            at->how = place::here;
            at->about = about;
            at->bytes = std::move(copy);
        }
    }
    if (in && counts())
        on.flow().account_in_queue(about);
    return in;
}

// Returns false if some messages remain for lack of memory.
bool endpoint_state::deliver_ready(int source) noexcept {
    const auto found = behind_.find(source);
    if (found == behind_.end())
        return true;
    std::deque<place> &line = found->second;
    FULT_ASSERT(!line.empty(), "a line without messages is erased");
    for (; !line.empty() && line.front().how >= place::here; line.pop_front())
        if (line.front().how == place::here && !deliver(line.front().about, line.front().bytes))
            return false;
    if (line.empty())
        behind_.erase(found);
    return true;
}

bool endpoint_state::deliver_all_ready() noexcept {
    bool all = true;
    for (auto each = behind_.begin(); each != behind_.end();) {
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
    on.flow().no_longer_in_queue(first->about);
    first->about = own(first->about);
    on.relieve();
    return first;
}

void refuse_empty_endpoint(const char *call) {
    throw std::invalid_argument(
        std::string("fult-comm: ").append(call).append(": the endpoint is empty (moved from?)"));
}

} // namespace fult::comm::detail
