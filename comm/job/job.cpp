#include "comm/job/job.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <fult/fult.hpp>

#include "comm/base/or_end.hpp"
#include "comm/base/own_thread.hpp"
#include "comm/base/strings.hpp"
#include "comm/device/describe.hpp"
#include "comm/job/joining.hpp"

namespace fult::comm::detail {
namespace {

joining::all_addresses exchange_addresses(bootstrap &boot,
                                          const std::vector<std::unique_ptr<joining>> &ways) {
    std::vector<std::string> mine;
    for (const auto &way : ways)
        for (std::string &each : way->addresses())
            mine.push_back(std::move(each));
    joining::all_addresses theirs;
    for (const std::string &answer : boot.exchange(join_strings(mine)))
        theirs.push_back(split_strings(answer, mine.size()));
    return theirs;
}

} // namespace

job::job(const options &asked, std::unique_ptr<bootstrap> started_by, std::unique_ptr<others_threads> begun)
    : wanted(asked), begun_(std::move(begun)), boot(std::move(started_by)) {
    const neighbours all(*boot, wanted);
    std::vector<std::unique_ptr<joining>> ways;
    for (unsigned i = 0; i < wanted.devices; ++i)
        ways.push_back(std::make_unique<joining>(all, wanted, i));
    joining::all_addresses theirs = exchange_addresses(*boot, ways);
    if (joining::lacks_room(theirs)) {
        for (const auto &way : ways)
            way->go_far(theirs);
        theirs = exchange_addresses(*boot, ways);
    }
    for (const auto &way : ways)
        way->connect(theirs);
    boot->barrier();
    for (const auto &way : ways) {
        way->hide();
        add_device(
            {std::move(way->transports), std::move(way->routes), all.secret(), all.packet_size(wanted)},
            std::move(way->bells));
    }
    fult::detail::share_processors(all.processors_are_short());
    begun_->close();
    begin();
    watch_ = std::make_unique<liveness>(devices_, all.processes(), wanted.heartbeat, boot->launcher());
    if (devices_.size() > 1)
        for (const auto &each : devices_)
            each->tell_failures_to(watch_.get());
    watch_for_deadlocks();
    serve();
}

job::job(const options &asked, std::unique_ptr<bootstrap> started_by, std::vector<device_links> links)
    : wanted(asked), boot(std::move(started_by)) {
    for (device_links &each : links)
        add_device(std::move(each), nullptr);
    begin();
    watch_for_deadlocks();
    serve();
}

void job::add_device(device_links links, std::unique_ptr<doorbells> bells) {
    device_settings s;
    s.rank = boot->rank();
    s.size = boot->size();
    s.packet_size = wanted.packet_size != 0 ? wanted.packet_size : links.packet_size;
    s.packets = wanted.packets;
    s.rendezvous = wanted.rendezvous;
    s.unexpected = wanted.unexpected;
    s.gather = wanted.gather;
    s.secret = links.secret;
    devices_.push_back(std::make_unique<device>(s, std::move(links.transports), std::move(links.routes)));
    devices_.back()->set_bells(std::move(bells));
}

void job::begin() {
    on = devices_.front().get();
    endpoints_.begin();
    world = make_endpoint({});
}

void job::watch_for_deadlocks() {
    if (boot->size() > 1)
        deadlocks_ = std::make_unique<deadlock_watch>(devices_, boot->rank(), boot->size());
}

void job::serve() {
    for (const auto &each : devices_)
        servers_.push_back(std::make_unique<server>(*each, wanted.server));
}

endpoint job::make_endpoint(endpoint_options how) { return endpoints_.make(std::move(how)); }

// Dissemination: after round k each rank has heard of 2^k others.
void job::barrier() {
    const int size = boot->size(), rank = boot->rank();
    std::uint32_t round = 0;
    try {
        for (int distance = 1; distance < size; distance *= 2, ++round)
            endpoints_.control().sendrecv(nullptr, 0, (rank + distance) % size, round, nullptr, 0,
                                          (rank + size - distance) % size, round);
    } catch (const error &how) {
        throw as_of(how, "barrier");
    }
}

bool job::progress() noexcept {
    bool any = false;
    for (const auto &each : devices_)
        any = each->progress() || any;
    return any;
}

bool job::is_lost(int rank) const noexcept {
    for (const auto &each : devices_)
        if (each->is_lost(rank))
            return true;
    return false;
}

std::uint64_t job::strange_packets() const noexcept {
    std::uint64_t count = 0;
    for (const auto &each : devices_)
        count += each->strange_packets();
    return count;
}

// Makes progress until done returns true for all devices.
void job::until(bool (device::*done)() noexcept) noexcept {
    for (;;) {
        bool all = true;
        for (const auto &each : devices_)
            all = ((*each).*done)() && all;
        if (all)
            return;
        progress();
        on->pause();
    }
}

// This rank makes progress until all have arrived: others may still wait for space in its queues. A rank that
// has failed is reported by the operations that depend on it. A late one is reported here in any case: others
// that waited for it may have ended by now, and so have failed.
void job::wait_for_all() {
    if (boot->size() == 1)
        return;
    std::atomic<bool> all_here{false};
    std::string missing;
    bool is_late = false;
    std::thread waiting([&] {
        const own_thread here("fult-end");
        try {
            boot->barrier();
        } catch (const bootstrap_error &how) {
            is_late = dynamic_cast<const rank_is_late *>(&how) != nullptr;
            or_end("comm::context", [&] { missing = how.what(); });
        }
        all_here.store(true, std::memory_order_release);
    });
    while (!all_here.load(std::memory_order_acquire)) {
        progress();
        on->pause();
    }
    waiting.join();
    if (!missing.empty() && (is_late || !any_failed()))
        say_who_is_missing(missing);
}

bool job::any_failed() const noexcept {
    for (const auto &each : devices_)
        if (each->peers().any_failed())
            return true;
    return false;
}

void job::say_who_is_missing(const std::string &text) {
    if (std::exchange(has_complained_, true))
        return;
    bool stays = false;
    for (const auto &each : devices_)
        stays = !each->may_close() || stays;
    std::fprintf(stderr, "fult-comm: rank %d %s: %s; %s\n", boot->rank(),
                 stays ? "stays until the others have taken its messages" : "ends without the others",
                 text.c_str(), where_tasks_wait().c_str());
}

// Ends the program if a device reports something.
void job::require_none(std::string (device::*left)(), const char *remedy) {
    std::string text;
    for (const auto &each : devices_)
        if (const std::string its = ((*each).*left)(); !its.empty())
            text += (text.empty() ? "" : ", ") + its;
    if (!text.empty())
        fult::detail::misuse("comm::context",
                             ("ended with operations pending: " + text + "; " + remedy).c_str());
}

// No endpoint may be left: it would use what ends now.
void job::require_no_endpoints() {
    std::size_t left = 0;
    for (const auto &each : devices_)
        left += each->endpoints();
    left -= world.rank() < 0 ? 0 : 1; // unless it was moved away
    if (left != 0)
        fult::detail::misuse("comm::context", ("ended before " + std::to_string(left) +
                                               " endpoint(s) made from it, which cannot be used without it; "
                                               "let them end first")
                                                  .c_str());
}

// No caller could handle a lack of memory.
job::~job() {
    or_end("comm::context", [this] { end(); });
}

void job::end() {
    endpoints_.end();
    require_none(&device::pending_receives, "wait for them first");
    require_no_endpoints();
    until(&device::handed_over);
    for (const auto &each : devices_)
        each->leave();
    if (deadlocks_)
        deadlocks_->leave();
    until(&device::handed_over);
    wait_for_all();
    until(&device::quiet);
    until(&device::may_close);
    require_none(&device::refused_sends, "receive them first");
    wait_for_all();
    fult::detail::share_processors(false);
    deadlocks_.reset();
    servers_.clear(); // they may report a failure to watch_
    if (wanted.counters)
        print_counters();
    watch_.reset();
    world = endpoint();
}

// One line for each transport that counts.
void job::print_counters() const {
    std::vector<const transport *> printed;
    for (const auto &each : devices_)
        for (int rank = 0; rank < boot->size(); ++rank) {
            const transport *const via = each->route(rank);
            if (!via || std::find(printed.begin(), printed.end(), via) != printed.end())
                continue;
            printed.push_back(via);
            if (const std::string text = via->report(); !text.empty())
                std::fprintf(stderr, "fult-comm: rank %d: %s: %s\n", boot->rank(), via->name(), text.c_str());
        }
}

} // namespace fult::comm::detail
