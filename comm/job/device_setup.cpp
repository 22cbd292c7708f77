#include "comm/job/device_setup.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "comm/base/random_number.hpp"
#include "comm/base/strings.hpp"
#include "comm/fabric/fabric.hpp"
#include "comm/job/shares.hpp"
#include "comm/shared/segment.hpp"
#include "comm/shared/shared.hpp"
#include "comm/verbs/verbs.hpp"
#include "fult/base/numbers.hpp"

namespace fult::comm::detail {
namespace {

// Identifies ranks that can access each other's processes and shared memory.
std::string processes_and_memory() {
    struct stat processes {
    }, memory{};
    ::stat("/proc/self/ns/pid", &processes);
    ::stat("/dev/shm", &memory);
    return std::to_string(processes.st_ino) + "/" + std::to_string(memory.st_dev);
}

// Identifies a host: containers of one host may have one name, and so may hosts of one image.
std::string host_identity() {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    return std::string(name) + "/" + boot + "/" + processes_and_memory();
}

std::string fresh_job_name() {
    if (const char *given = std::getenv("FULT_RUN_JOB"))
        return given;
    std::random_device random;
    return std::to_string(::getpid()) + "-" + std::to_string(random());
}

constexpr const char *bell_ending = "-bell"; // the name without it is the provider's

// What the other ranks must know of a rank.
struct introduction {
    std::string host;
    pid_t process = 0;
    std::string job;
    std::string packet_size;
    std::string devices;
    std::size_t free_memory = 0; // bytes of shared memory on its host
    std::size_t shared_memory = 0;
    std::string same_host;
    std::string share; // shares.hpp
    std::uint64_t secret = 0;
    std::string network;
};

// Throws std::runtime_error if it is none.
template <class Number> Number number_in(const std::string &part) {
    const auto value = fult::detail::whole_number<Number>(part);
    if (!value)
        throw_unknown_strings();
    return *value;
}

verbs_settings verbs_settings_of(const options &settings) {
    verbs_settings s;
    s.ports = settings.interface == "auto" ? "" : settings.interface;
    s.silence = std::chrono::seconds(settings.heartbeat);
    if (settings.gid == "auto")
        return s;
    const auto index = fult::detail::whole_number<int>(settings.gid);
    if (!index || *index < 0 || *index > 255)
        throw std::invalid_argument("fult-comm: FULT_COMM_GID='" + settings.gid +
                                    "': must be auto, or an index from 0 to 255");
    s.gid = *index;
    return s;
}

// What all devices of this rank would use; no network if they differ.
verbs_offer own_offer(verbs_settings adapters, unsigned devices, std::size_t packet_memory) {
    verbs_offer first;
    for (adapters.index = 0; adapters.index < devices; ++adapters.index) {
        verbs_offer each = offer_verbs(adapters, devices * packet_memory); // one device at a time
        if (adapters.index == 0)
            first = std::move(each);
        else if (each.network != first.network)
            return {};
        else if (first.shortage.empty())
            first.shortage = std::move(each.shortage);
    }
    return first;
}

// Larger limits of packets are rarely reached.
constexpr std::size_t max_tried = std::size_t{64} << 20;

// All ranks have adapters of one kind of network, and can use them; the first one that cannot says why.
// Another exchange: the adapters are opened for it.
bool all_have_verbs(bootstrap &boot, const verbs_settings &adapters, const options &settings) {
    const std::size_t packet = settings.packet_size != 0 ? settings.packet_size : usual_packet_size;
    const verbs_offer own =
        own_offer(adapters, settings.devices, std::min(settings.packets * packet, max_tried));
    std::vector<verbs_offer> offers;
    for (const std::string &each : boot.exchange(join_strings({own.network, own.shortage}))) {
        std::vector<std::string> parts = split_strings(each, 2);
        offers.push_back({std::move(parts[0]), std::move(parts[1])});
    }
    if (!std::ranges::all_of(offers, [&](const verbs_offer &each) {
            return !each.network.empty() && each.network == offers.front().network;
        }))
        return false;
    const auto lacking =
        std::ranges::find_if(offers, [](const verbs_offer &each) { return !each.shortage.empty(); });
    if (lacking == offers.end())
        return true;
    if (lacking - offers.begin() == boot.rank())
        std::fprintf(stderr, "%s. Until then messages between hosts go by libfabric (rank %d)\n",
                     own.shortage.c_str(), boot.rank());
    return false;
}

std::vector<introduction> introduce(bootstrap &boot, const options &settings) {
    const std::string contribution =
        join_strings({host_identity(), std::to_string(::getpid()), fresh_job_name(),
                      std::to_string(settings.packet_size), std::to_string(settings.devices),
                      std::to_string(free_shared_memory()), std::to_string(settings.shared_memory),
                      settings.same_host, own_share(), std::to_string(random_number()), settings.network});
    std::vector<introduction> all;
    for (const std::string &each : boot.exchange(contribution)) {
        const auto parts = split_strings(each, 11);
        all.push_back({parts[0], number_in<pid_t>(parts[1]), parts[2], parts[3], parts[4],
                       number_in<std::size_t>(parts[5]), number_in<std::size_t>(parts[6]), parts[7], parts[8],
                       number_in<std::uint64_t>(parts[9]), parts[10]});
    }
    return all;
}

void require_same(const char *variable, std::size_t rank, const std::string &theirs,
                  const std::string &ours) {
    if (theirs != ours)
        throw std::runtime_error("fult-comm: rank " + std::to_string(rank) + " was started with " + variable +
                                 "=" + theirs + ", this one with " + ours + "; give all ranks the same");
}

} // namespace

neighbours::neighbours(bootstrap &boot, const options &settings)
    : rank_(boot.rank()), devices_(settings.devices) {
    const verbs_settings adapters = verbs_settings_of(settings);
    const std::vector<introduction> all = introduce(boot, settings);
    const auto self = static_cast<std::size_t>(rank_);
    job_ = all[0].job;
    secret_ = all[0].secret;
    on_host_.resize(all.size());
    std::vector<std::string> shares; // of this host
    std::size_t own_index = 0;
    processes_.resize(all.size(), 0);
    free_ = all[self].free_memory;
    allowed_ = all[self].shared_memory;
    for (std::size_t i = 0; i < all.size(); ++i) {
        require_same("FULT_COMM_PACKET_SIZE", i, all[i].packet_size, std::to_string(settings.packet_size));
        require_same("FULT_COMM_DEVICES", i, all[i].devices, std::to_string(settings.devices));
        if (all[i].host == all[self].host)
            require_same("FULT_COMM_SAME_HOST", i, all[i].same_host, settings.same_host);
        if (i == self)
            own_index = shares.size();
        if (all[i].host == all[self].host)
            shares.push_back(all[i].share);
        on_host_[i] = settings.same_host != "none" && all[i].host == all[self].host;
        if (on_host_[i]) {
            free_ = std::min(free_, all[i].free_memory);
            allowed_ = std::min(allowed_, all[i].shared_memory);
        }
        if (i == self)
            continue;
        any_on_host_ = any_on_host_ || on_host_[i];
        any_remote_ = any_remote_ || !on_host_[i];
        processes_[i] = on_host_[i] ? all[i].process : 0;
    }
    processes_[self] = -1;
    // any_remote_ is the same on all ranks: a job has several hosts, or one whose ranks use the network.
    const bool is_open =
        std::ranges::all_of(all, [](const introduction &each) { return each.network == "auto"; });
    uses_verbs_ =
        settings.network == "verbs" || (is_open && any_remote_ && all_have_verbs(boot, adapters, settings));
    processors_are_short_ = more_workers_than_processors(shares, own_index);
}

std::string neighbours::name_of(std::size_t rank, unsigned device) const {
    const std::string name = "fult-" + job_ + "-" + std::to_string(rank);
    return device == 0 ? name : name + "-d" + std::to_string(device);
}

bool neighbours::is_first_here() const noexcept {
    return std::find(on_host_.begin(), on_host_.begin() + rank_, true) == on_host_.begin() + rank_;
}

std::size_t neighbours::ranks_here() const noexcept {
    return static_cast<std::size_t>(std::count(on_host_.begin(), on_host_.end(), true));
}

// A quarter of the free memory is left to other users, and to a rank's other objects there (a bell).
std::size_t neighbours::room(bool free) const noexcept {
    const std::size_t all = free ? free_ / 4 * 3 : allowed_;
    return all / std::max<std::size_t>(ranks_here(), 1) / devices_;
}

std::size_t neighbours::packet_size(const options &settings) const noexcept {
    if (settings.packet_size != 0)
        return settings.packet_size;
    return !any_remote_ && settings.same_host == "auto" ? packet_size_of_one_host : usual_packet_size;
}

device_setup::device_setup(const neighbours &all, const options &settings, unsigned device)
    : routes(all.size(), -1), all_(all), settings_(settings), device_(device) {
    if (all.any_on_host())
        open_host_transport();
    if (all.any_remote())
        network_ = open_network();
}

// The bell belongs to this transport, which has nothing else to sleep on.
void device_setup::open_host_transport() {
    const std::string bell = all_.name_of(static_cast<std::size_t>(all_.rank()), device_) + bell_ending;
    if (settings_.same_host != "auto") {
        host_ = open_fabric_for(true, settings_.same_host);
        bells = std::make_unique<doorbells>(bell, static_cast<int>(all_.size()));
        return;
    }
    try {
        host_ = open_shared_memory();
        bells = std::make_unique<doorbells>(bell, static_cast<int>(all_.size()));
    } catch (const std::system_error &none) {
        host_ = -1;
        transports.clear();
        shortage_ = none.what();
    }
}

int device_setup::open_shared_memory() {
    shared_settings s;
    s.name = all_.name_of(static_cast<std::size_t>(all_.rank()), device_);
    s.rank = all_.rank();
    s.ranks = static_cast<int>(all_.ranks_here());
    s.message = all_.packet_size(settings_);
    s.room = std::min(all_.room(true), all_.room(false));
    transports.push_back(open_shared(s));
    return static_cast<int>(transports.size() - 1);
}

// Once for each host, if lack of memory makes packets smaller than requested.
void device_setup::report_shortage() const {
    const std::size_t message = transports[static_cast<std::size_t>(host_)]->limits().message;
    const std::size_t least = settings_.packet_size != 0 ? settings_.packet_size : usual_packet_size;
    if (settings_.same_host != "auto" || !all_.is_first_here() || device_ != 0 || message >= least ||
        all_.room(true) >= all_.room(false))
        return;
    std::fprintf(
        stderr,
        "fult-comm: /dev/shm is small for the %zu ranks of this host: they send packets of %zu bytes "
        "instead of %zu; make it larger (docker run --shm-size)\n",
        all_.ranks_here(), message, least);
}

int device_setup::open_fabric_for(bool same_host, const std::string &provider) {
    fabric_settings s;
    s.scope = same_host ? reach::same_host : reach::network;
    s.provider = provider == "auto" ? "" : provider;
    s.interface = settings_.interface == "auto" ? "" : settings_.interface;
    s.name = all_.name_of(static_cast<std::size_t>(all_.rank()), device_);
    s.rank = all_.rank();
    s.expected_ranks = static_cast<int>(all_.size());
    s.receive_packet_bytes = all_.packet_size(settings_);
    s.descriptor = static_cast<unsigned>(transports.size());
    transports.push_back(open_fabric(s));
    return static_cast<int>(transports.size() - 1);
}

int device_setup::open_network() {
    if (!all_.uses_verbs())
        return open_fabric_for(false, settings_.network);
    verbs_settings s = verbs_settings_of(settings_);
    s.index = device_;
    s.rank = all_.rank();
    s.receive_packet_bytes = all_.packet_size(settings_);
    s.descriptor = static_cast<unsigned>(transports.size());
    transports.push_back(open_verbs(s));
    return static_cast<int>(transports.size() - 1);
}

std::vector<std::string> device_setup::addresses() const {
    const auto of = [&](int index) {
        return index < 0 ? std::string() : transports[static_cast<std::size_t>(index)]->address();
    };
    return {of(host_), of(network_), shortage_};
}

bool device_setup::lacks_room(const std::vector<std::string> &of_rank) {
    for (std::size_t i = 2; i < of_rank.size(); i += parts)
        if (!of_rank[i].empty())
            return true;
    return false;
}

bool device_setup::lacks_room(const all_addresses &addresses) {
    return std::any_of(addresses.begin(), addresses.end(),
                       [](const auto &of_rank) { return lacks_room(of_rank); });
}

// True if messages to that rank go over the network.
bool device_setup::is_remote(const all_addresses &addresses, std::size_t rank) const {
    return !all_.is_on_host(rank) || !shortage_.empty() || !part(addresses, rank, 2).empty();
}

void device_setup::use_network(const all_addresses &addresses) {
    std::size_t lacking = 0, first = all_.size();
    bool any_remote = false;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (!all_.is_on_host(i))
            continue;
        any_remote = any_remote || (static_cast<int>(i) != all_.rank() && is_remote(addresses, i));
        lacking += lacks_room(addresses[i]) ? 1 : 0;
        if (!part(addresses, i, 2).empty())
            first = std::min(first, i);
    }
    if (!any_remote)
        return;
    if (static_cast<int>(first) == all_.rank() && is_first_shortage(addresses))
        std::fprintf(stderr, "%s. Until then messages of %zu of the %zu ranks here go over the network\n",
                     shortage_.c_str(), lacking, all_.ranks_here());
    if (network_ < 0)
        network_ = open_network();
}

// True if all ranks of this host have the memory of their earlier devices.
bool device_setup::is_first_shortage(const all_addresses &addresses) const {
    for (std::size_t rank = 0; rank < all_.size(); ++rank)
        for (unsigned i = 0; all_.is_on_host(rank) && i < device_; ++i)
            if (!addresses[rank][i * parts + 2].empty())
                return false;
    return true;
}

void device_setup::connect(const all_addresses &addresses) {
    std::vector<std::string> host(all_.size()), network(all_.size()), bell_names(all_.size());
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (static_cast<int>(i) == all_.rank())
            continue;
        const bool over_network = is_remote(addresses, i);
        routes[i] = over_network ? network_ : host_;
        (over_network ? network : host)[i] = part(addresses, i, over_network ? 1 : 0);
        if (!over_network)
            bell_names[i] = all_.name_of(i, device_) + bell_ending;
    }
    if (host_ >= 0)
        transports[static_cast<std::size_t>(host_)]->connect(host);
    if (host_ >= 0 && !lacks_room(addresses)) // use_network has reported more
        report_shortage();
    if (network_ >= 0)
        transports[static_cast<std::size_t>(network_)]->connect(network);
    if (bells)
        bells->connect(bell_names);
}

void device_setup::unlink_names() noexcept {
    for (const auto &each : transports)
        each->unlink_names();
    if (bells)
        bells->unlink_names();
}

} // namespace fult::comm::detail
