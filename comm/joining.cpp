#include "comm/joining.hpp"

#include <cstdlib>
#include <fstream>
#include <random>
#include <stdexcept>
#include <unistd.h>

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
    std::string packet_size;
    std::string devices;
};

std::vector<introduction> introduce(bootstrap &boot, const options &wanted) {
    const std::string mine =
        join_strings({host_identity(), std::to_string(::getpid()), fresh_job_name(),
                      std::to_string(wanted.packet_size), std::to_string(wanted.devices)});
    std::vector<introduction> all;
    for (const std::string &each : boot.exchange(mine)) {
        const auto parts = split_strings(each, 5);
        all.push_back({parts[0], static_cast<pid_t>(std::stol(parts[1])), parts[2], parts[3], parts[4]});
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

neighbours::neighbours(bootstrap &boot, const options &wanted) : rank_(boot.rank()) {
    const std::vector<introduction> all = introduce(boot, wanted);
    const auto self = static_cast<std::size_t>(rank_);
    job_ = all[0].job;
    near_.resize(all.size());
    processes_.resize(all.size(), 0);
    for (std::size_t i = 0; i < all.size(); ++i) {
        require_same("FULT_COMM_PACKET_SIZE", i, all[i].packet_size, std::to_string(wanted.packet_size));
        require_same("FULT_COMM_DEVICES", i, all[i].devices, std::to_string(wanted.devices));
        near_[i] = wanted.same_host != "none" && all[i].host == all[self].host;
        if (i == self)
            continue;
        any_near_ = any_near_ || near_[i];
        any_far_ = any_far_ || !near_[i];
        processes_[i] = near_[i] ? all[i].process : 0;
    }
    processes_[self] = -1;
}

std::string neighbours::name_of(std::size_t rank, unsigned device) const {
    const std::string name = "fult-" + job_ + "-" + std::to_string(rank);
    return device == 0 ? name : name + "-d" + std::to_string(device);
}

joining::joining(const neighbours &all, const options &wanted, unsigned device)
    : routes(all.size(), -1), all_(all), device_(device) {
    if (all.any_near())
        near_ = open_near(wanted);
    if (all.any_far())
        far_ = open_fabric_for(false, wanted.network, wanted.interface, wanted.packet_size);
    const auto self = static_cast<std::size_t>(all.rank());
    if (all.any_near())
        bells = std::make_unique<doorbells>(all.name_of(self, device) + bell_ending,
                                            static_cast<int>(all.size()));
    for (std::size_t i = 0; i < all.size(); ++i)
        if (i != self)
            routes[i] = all.is_near(i) ? near_ : far_;
}

int joining::open_near(const options &wanted) {
    if (wanted.same_host != "auto")
        return open_fabric_for(true, wanted.same_host, wanted.interface, wanted.packet_size);
    shared_settings s;
    s.name = all_.name_of(static_cast<std::size_t>(all_.rank()), device_);
    s.rank = all_.rank();
    s.ranks = static_cast<int>(all_.size());
    s.message = wanted.packet_size;
    transports.push_back(open_shared(s));
    return static_cast<int>(transports.size() - 1);
}

int joining::open_fabric_for(bool same_host, const std::string &provider, const std::string &interface,
                             std::size_t packet_size) {
    fabric_settings s;
    s.where = same_host ? reach::same_host : reach::network;
    s.provider = provider == "auto" ? "" : provider;
    s.interface = interface == "auto" ? "" : interface;
    s.name = all_.name_of(static_cast<std::size_t>(all_.rank()), device_);
    s.rank = all_.rank();
    s.expected_ranks = static_cast<int>(all_.size());
    s.receive_packet_bytes = packet_size;
    s.descriptor = static_cast<unsigned>(transports.size());
    transports.push_back(open_fabric(s));
    return static_cast<int>(transports.size() - 1);
}

std::vector<std::string> joining::addresses() const {
    const auto of = [&](int index) {
        return index < 0 ? std::string() : transports[static_cast<std::size_t>(index)]->address();
    };
    return {of(near_), of(far_)};
}

void joining::connect(const std::vector<std::vector<std::string>> &addresses, std::size_t place) {
    std::vector<std::string> near(all_.size()), far(all_.size()), bell_names(all_.size());
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (static_cast<int>(i) == all_.rank())
            continue;
        (all_.is_near(i) ? near : far)[i] = addresses[i][place + (all_.is_near(i) ? 0 : 1)];
        if (all_.is_near(i))
            bell_names[i] = all_.name_of(i, device_) + bell_ending;
    }
    if (near_ >= 0)
        transports[static_cast<std::size_t>(near_)]->connect(near);
    if (far_ >= 0)
        transports[static_cast<std::size_t>(far_)]->connect(far);
    if (bells)
        bells->connect(bell_names);
}

void joining::hide() noexcept {
    for (const auto &each : transports)
        each->conceal();
    if (bells)
        bells->hide();
}

} // namespace fult::comm::detail
