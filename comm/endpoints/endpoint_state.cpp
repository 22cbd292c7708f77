#include "comm/endpoints/endpoint_state.hpp"

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

#include "comm/requests/describe.hpp"

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
                               bool as_collective_context)
    : on(device), id(number), how(std::move(options)), is_collective_context(as_collective_context) {
    if ((how.how == delivery::handled || how.how == delivery::as_a_task) && !how.handler)
        throw std::invalid_argument("fult-comm: an endpoint whose messages are handled needs a handler");
    if (how.handler) // tasks may still use it after the end of the endpoint
        handler_ = std::make_shared<const message_handler>(how.handler);
    if (how.wildcards && matches())
        wild_ = std::make_unique<wildcard_matcher>();
}

endpoint_state::~endpoint_state() {
    on.detach(*this);
    let_go();
}

// Arguments -----------------------------------------------------------------------------------------------------------

void endpoint_state::check_rank(const char *call, int rank) const {
    if (rank < 0 || rank >= on.size())
        throw std::out_of_range("fult-comm: " + std::string(call) + ": there is no rank " +
                                std::to_string(rank) + "; the job has " + std::to_string(on.size()));
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
    if (tag != any_tag && (tag < 0 || tag > 0xffff'ffff))
        throw std::out_of_range("fult-comm: " + std::string(call) + ": tag " + std::to_string(tag) +
                                "; tags are 0 to 4294967295");
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
        wild_->look(what, [&](wildcard_item &m) { found = static_cast<arrived &>(m).about; });
    else
        on.matches().look(what.key, match_kind::message,
                          [&](match_item &m) { found = static_cast<arrived &>(m).about; });
    return found;
}

receive *endpoint_state::orphans(int rank) noexcept {
    if (wild_)
        return static_cast<receive *>(
            wild_->remove_if(match_kind::receive, [&, alone = on.peers().is_left_alone()](wildcard_item &r) {
                const int source = static_cast<receive &>(r).source;
                return source == rank || (source == any_source && alone);
            }));
    return static_cast<receive *>(
        static_cast<wildcard_item *>(on.matches().remove_if(match_kind::receive, [&](match_item &i) {
            const auto &r = static_cast<receive &>(i);
            return r.at == this && (r.source == rank || is_collective_context);
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
    call(how.handler, id, about, bytes);
}

bool endpoint_state::deliver_here(const status &about, std::span<const std::byte> bytes) noexcept {
    if (how.how != delivery::handled)
        return deliver(about, bytes);
    call_handler(about, bytes);
    return true;
}

bool endpoint_state::deliver(const status &about, std::span<const std::byte> bytes) noexcept {
    if (how.how == delivery::handled)
        return on.handlers().add(id, about, bytes);
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
        return on.handlers().add(id, about, bytes);
    case delivery::as_a_task:
        try {
            spawn([handler = handler_, about, at = bytes.get(), number = id] {
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
        on.flow().no_longer_unexpected(each.about);
    for (auto &[source, line] : behind_)
        for (place &each : line)
            if (each.how == place::offered)
                on.leave_at_sender(each.about.source, each.offer);
            else if (each.how == place::here && counts())
                on.flow().no_longer_unexpected(each.about);
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
        on.flow().account(about.source, static_cast<std::ptrdiff_t>(about.size));
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
    on.flow().no_longer_unexpected(first->about);
    on.relieve();
    return first;
}

} // namespace fult::comm::detail
