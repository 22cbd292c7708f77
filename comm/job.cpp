#include "comm/job.hpp"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <poll.h>
#include <random>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include <fult/fult.hpp>
#include <fult/sync/waiter.hpp>

#include "comm/bells.hpp"
#include "comm/fabric/fabric.hpp"
#include "comm/shared/shared.hpp"
#include "comm/strings.hpp"

namespace fult::comm::detail {
namespace {

// What tells hosts apart: containers of one host may have one name, and hosts of one image too.
std::string host_identity() {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    return std::string(name) + "/" + boot;
}

std::string fresh_job_name() {
    if (const char *given = std::getenv("FULT_RUN_JOB"))
        return given;
    std::random_device random;
    return std::to_string(::getpid()) + "-" + std::to_string(random());
}

constexpr const char *bell_ending = "-bell"; // the name without it is the provider's

// A rank as the others must know it.
struct introduction {
    std::string host;
    pid_t process = 0;
    std::string job;
    std::size_t packet_size = 0;
};

std::vector<introduction> introduce(bootstrap &boot, const options &wanted) {
    const std::string mine = join_strings(
        {host_identity(), std::to_string(::getpid()), fresh_job_name(), std::to_string(wanted.packet_size)});
    std::vector<introduction> all;
    for (const std::string &each : boot.exchange(mine)) {
        const auto parts = split_strings(each, 4);
        all.push_back({parts[0], static_cast<pid_t>(std::stol(parts[1])), parts[2], std::stoul(parts[3])});
    }
    return all;
}

} // namespace

job::job(const options &asked, std::unique_ptr<bootstrap> started_by)
    : wanted(asked), boot(std::move(started_by)) {
    const int rank = boot->rank(), size = boot->size();
    const auto self = static_cast<std::size_t>(rank);
    const std::vector<introduction> all = introduce(*boot, wanted);
    std::vector<pid_t> processes(all.size(), 0);
    std::vector<bool> near(all.size(), false);
    bool any_near = false, any_far = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].packet_size != wanted.packet_size)
            throw std::runtime_error(
                "fult-comm: rank " + std::to_string(i) +
                " was started with FULT_COMM_PACKET_SIZE=" + std::to_string(all[i].packet_size) +
                ", this one with " + std::to_string(wanted.packet_size) + "; give all ranks the same");
        near[i] = wanted.same_host != "none" && all[i].host == all[self].host;
        if (i == self)
            continue;
        any_near = any_near || near[i];
        any_far = any_far || !near[i];
        processes[i] = near[i] ? all[i].process : 0;
    }
    processes[self] = -1;

    const std::string name = "fult-" + all[0].job + "-" + std::to_string(rank);
    std::vector<std::unique_ptr<transport>> transports;
    std::vector<int> routes(all.size(), -1);
    std::string addresses[2];
    int near_index = -1, far_index = -1;
    const auto open = [&](reach where, const std::string &provider) {
        fabric_settings s;
        s.where = where;
        s.provider = provider == "auto" ? "" : provider;
        s.interface = wanted.interface == "auto" ? "" : wanted.interface;
        s.name = name;
        s.rank = rank;
        s.expected_ranks = size;
        s.receive_packet_bytes = wanted.packet_size;
        s.descriptor = static_cast<unsigned>(transports.size());
        transports.push_back(open_fabric(s));
        return static_cast<int>(transports.size() - 1);
    };
    const auto open_near = [&] {
        if (wanted.same_host != "auto")
            return open(reach::same_host, wanted.same_host);
        shared_settings s;
        s.name = name;
        s.rank = rank;
        s.ranks = size;
        s.message = wanted.packet_size;
        transports.push_back(open_shared(s));
        return static_cast<int>(transports.size() - 1);
    };
    if (any_near)
        addresses[0] = transports[static_cast<std::size_t>(near_index = open_near())]->address();
    if (any_far)
        addresses[1] =
            transports[static_cast<std::size_t>(far_index = open(reach::network, wanted.network))]->address();
    std::unique_ptr<doorbells> bells;
    if (any_near)
        bells = std::make_unique<doorbells>(name + bell_ending, size);

    std::vector<std::string> near_addresses(all.size()), far_addresses(all.size()), names(all.size());
    const auto answers = boot->exchange(join_strings({addresses[0], addresses[1]}));
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto parts = split_strings(answers[i], 2);
        if (i == self)
            continue;
        (near[i] ? near_addresses : far_addresses)[i] = parts[near[i] ? 0 : 1];
        if (near[i])
            names[i] = "fult-" + all[0].job + "-" + std::to_string(i) + bell_ending;
        routes[i] = near[i] ? near_index : far_index;
    }
    if (near_index >= 0)
        transports[static_cast<std::size_t>(near_index)]->connect(near_addresses);
    if (far_index >= 0)
        transports[static_cast<std::size_t>(far_index)]->connect(far_addresses);
    if (bells)
        bells->connect(names);
    boot->barrier();
    for (const auto &each : transports)
        each->conceal();
    if (bells)
        bells->hide();
    begin(std::move(transports), std::move(routes));
    if (!on->transports_empty())
        on->set_bells(std::move(bells));
    watch_ = std::make_unique<liveness>(*on, processes, wanted.heartbeat);
    serve();
}

job::job(const options &asked, std::unique_ptr<bootstrap> started_by,
         std::vector<std::unique_ptr<transport>> transports, std::vector<int> routes)
    : wanted(asked), boot(std::move(started_by)) {
    begin(std::move(transports), std::move(routes));
    serve();
}

void job::begin(std::vector<std::unique_ptr<transport>> transports, std::vector<int> routes) {
    device_settings s;
    s.rank = boot->rank();
    s.size = boot->size();
    s.packet_size = wanted.packet_size;
    s.packets = wanted.packets;
    s.rendezvous = wanted.rendezvous;
    s.unexpected = wanted.unexpected;
    s.gather = wanted.gather;
    on = std::make_unique<device>(s, std::move(transports), std::move(routes));
    control_ = make_endpoint({});
    world = make_endpoint({});
}

endpoint job::make_endpoint(endpoint_options how) {
    if (next_endpoint_ == most_endpoints)
        throw std::length_error("fult-comm: more than " + std::to_string(most_endpoints / 2) + " endpoints");
    auto made = std::make_shared<endpoint_state>(*on, next_endpoint_++, std::move(how));
    auto companion = std::make_shared<endpoint_state>(*on, next_endpoint_++, endpoint_options{}, true);
    made->companion = endpoint(std::move(companion));
    return endpoint(std::move(made));
}

// Makes somebody poll the device.
void job::serve() {
    if (on->transports_empty())
        return;
    if (wanted.server != server_policy::dedicated) {
        fult::detail::add_service(*on);
        is_service_ = true;
        return;
    }
    server_ = std::thread([this] {
        unsigned idle = 0;
        while (!ending_.load(std::memory_order_acquire)) {
            if (on->progress()) {
                idle = 0;
            } else if (++idle < 2000) {
                fult::detail::cpu_relax();
            } else if (on->prepare_sleep()) {
                pollfd what{on->descriptor(), POLLIN, 0};
                ::poll(&what, what.fd >= 0 ? 1 : 0, std::min(on->patience(), 10));
                on->end_sleep();
            }
        }
    });
}

// Dissemination: after round k each rank knows of 2^k others.
void job::barrier() {
    const int size = boot->size(), rank = boot->rank();
    std::uint32_t round = 0;
    for (int distance = 1; distance < size; distance *= 2, ++round)
        control_.sendrecv(nullptr, 0, (rank + distance) % size, round, nullptr, 0,
                          (rank + size - distance) % size, round);
}

// This rank goes on making progress until all are here: others may still wait for room in its queues.
void job::wait_for_all() {
    if (boot->size() == 1)
        return;
    std::atomic<bool> all_here{false};
    std::thread waiting([&] {
        try {
            boot->barrier();
        } catch (const bootstrap_error &) {
            // a rank has failed: whoever cared was told by its operations
        }
        all_here.store(true, std::memory_order_release);
    });
    while (!all_here.load(std::memory_order_acquire))
        on->pause();
    waiting.join();
}

job::~job() {
    control_ = endpoint();
    if (const std::string left = on->pending_receives(); !left.empty())
        fult::detail::misuse("comm::context",
                             ("ended with operations pending: " + left + "; wait for them first").c_str());
    while (!on->handed_over())
        on->pause();
    // Now nobody receives anything any more. Those who wait for a receive are told so.
    wait_for_all();
    on->refuse_messages();
    while (!on->quiet())
        on->pause();
    if (const std::string left = on->refused_sends(); !left.empty())
        fult::detail::misuse("comm::context",
                             ("ended with operations pending: " + left + "; receive them first").c_str());
    wait_for_all();
    watch_.reset();
    ending_.store(true, std::memory_order_release);
    if (server_.joinable())
        server_.join();
    if (is_service_)
        fult::detail::remove_service(*on);
    world = endpoint();
}

} // namespace fult::comm::detail
