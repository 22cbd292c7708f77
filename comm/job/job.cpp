#include "comm/job/job.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <fult/fult.hpp>

#include "comm/base/library_thread.hpp"
#include "comm/base/require_resources.hpp"
#include "comm/base/strings.hpp"
#include "comm/device/describe.hpp"
#include "comm/job/device_setup.hpp"

namespace fult::comm::detail {
namespace {

device_setup::all_addresses exchange_addresses(bootstrap &boot,
                                               const std::vector<std::unique_ptr<device_setup>> &setups) {
    std::vector<std::string> own_addresses;
    for (const auto &setup : setups)
        for (std::string &each : setup->addresses())
            own_addresses.push_back(std::move(each));
    device_setup::all_addresses addresses;
    for (const std::string &answer : boot.exchange(join_strings(own_addresses)))
        addresses.push_back(split_strings(answer, own_addresses.size()));
    return addresses;
}

} // namespace

job::job(const options &settings, std::unique_ptr<bootstrap> connection,
         std::unique_ptr<foreign_threads> begun)
    : settings(settings), threads_(std::move(begun)), boot(std::move(connection)) {
    const neighbours all(*boot, settings);
    std::vector<std::unique_ptr<device_setup>> setups;
    for (unsigned i = 0; i < settings.devices; ++i)
        setups.push_back(std::make_unique<device_setup>(all, settings, i));
    device_setup::all_addresses addresses = exchange_addresses(*boot, setups);
    if (device_setup::lacks_room(addresses)) {
        for (const auto &setup : setups)
            setup->use_network(addresses);
        addresses = exchange_addresses(*boot, setups);
    }
    for (const auto &setup : setups)
        setup->connect(addresses);
    boot->barrier();
    for (const auto &setup : setups) {
        setup->unlink_names();
        add_device(
            {std::move(setup->transports), std::move(setup->routes), all.secret(), all.packet_size(settings)},
            std::move(setup->bells));
    }
    fult::detail::share_processors(all.processors_are_short());
    threads_->close();
    begin();
    liveness_ = std::make_unique<liveness>(devices_, all.processes(), settings.heartbeat, boot->launcher());
    if (devices_.size() > 1)
        for (const auto &each : devices_)
            each->set_failure_listener(liveness_.get());
    watch_for_deadlocks();
    serve();
}

job::job(const options &settings, std::unique_ptr<bootstrap> connection, std::vector<device_links> links)
    : settings(settings), boot(std::move(connection)) {
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
    s.packet_size = settings.packet_size != 0 ? settings.packet_size : links.packet_size;
    s.packets = settings.packets;
    s.rendezvous = settings.rendezvous;
    s.unexpected = settings.unexpected;
    s.gather = settings.gather;
    s.secret = links.secret;
    devices_.push_back(std::make_unique<device>(s, std::move(links.transports), std::move(links.routes)));
    devices_.back()->set_bells(std::move(bells));
}

void job::begin() {
    first_device = devices_.front().get();
    endpoints_.begin();
    world = make_endpoint({});
}

void job::watch_for_deadlocks() {
    if (boot->size() > 1)
        deadlocks_ = std::make_unique<deadlock_watch>(devices_, boot->rank(), boot->size());
}

void job::serve() {
    for (const auto &each : devices_)
        servers_.push_back(std::make_unique<server>(*each, settings.progress));
}

endpoint job::make_endpoint(endpoint_options options) { return endpoints_.make(std::move(options)); }

// Dissemination: after round k each rank has heard of 2^k others.
void job::barrier() {
    const int size = boot->size(), rank = boot->rank();
    std::uint32_t round = 0;
    try {
        for (int distance = 1; distance < size; distance *= 2, ++round)
            endpoints_.control().sendrecv(nullptr, 0, (rank + distance) % size, round, nullptr, 0,
                                          (rank + size - distance) % size, round);
    } catch (const error &failure) {
        throw as_of(failure, "barrier");
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

std::uint64_t job::refused_packets() const noexcept {
    std::uint64_t count = 0;
    for (const auto &each : devices_)
        count += each->refused_packets();
    return count;
}

// Makes progress until done returns true for all devices.
void job::progress_until(bool (device::*done)() noexcept) noexcept {
    for (;;) {
        bool all = true;
        for (const auto &each : devices_)
            all = ((*each).*done)() && all;
        if (all)
            return;
        progress();
        first_device->pause();
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
        const library_thread here("fult-end");
        try {
            boot->barrier();
        } catch (const bootstrap_error &failure) {
            is_late = dynamic_cast<const late_rank *>(&failure) != nullptr;
            require_resources("comm::context", [&] { missing = failure.what(); });
        }
        all_here.store(true, std::memory_order_release);
    });
    while (!all_here.load(std::memory_order_acquire)) {
        progress();
        first_device->pause();
    }
    waiting.join();
    if (!missing.empty() && (is_late || !any_failed()))
        report_missing_ranks(missing);
}

bool job::any_failed() const noexcept {
    for (const auto &each : devices_)
        if (each->peers().any_failed())
            return true;
    return false;
}

void job::report_missing_ranks(const std::string &text) {
    if (std::exchange(has_reported_, true))
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
    require_resources("comm::context", [this] { end(); });
}

void job::end() {
    endpoints_.end();
    require_none(&device::pending_receives, "wait for them first");
    require_no_endpoints();
    progress_until(&device::is_flushed);
    for (const auto &each : devices_)
        each->leave();
    if (deadlocks_)
        deadlocks_->leave();
    progress_until(&device::is_flushed);
    wait_for_all();
    progress_until(&device::is_idle);
    progress_until(&device::may_close);
    require_none(&device::describe_refusals, "receive them first");
    wait_for_all();
    fult::detail::share_processors(false);
    deadlocks_.reset();
    servers_.clear(); // they may report a failure to liveness_
    if (settings.counters)
        print_counters();
    liveness_.reset();
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
