#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <fult/comm/context.hpp>
#include <fult/detail/forked.hpp>
#include <fult/runtime.hpp>
#include <fult/this_task.hpp>

#include "comm/job/job.hpp"
#include "comm/job/option_table.hpp"

namespace fult::comm {
namespace {

std::unique_ptr<detail::bootstrap> connect(const options &settings) {
    if (!in_task())
        throw std::logic_error("fult-comm: a context is made by a task; start a fult::runtime first");
    return detail::connect_bootstrap(std::chrono::seconds(settings.timeout));
}

std::unique_ptr<detail::job> start(const options &settings) {
    fult::detail::check_not_forked();
    fult::detail::require_valid(detail::comm_option_table(), settings, "fult-comm");
    auto begun = std::make_unique<detail::foreign_threads>();
    auto boot = connect(settings);
    return std::make_unique<detail::job>(settings, std::move(boot), std::move(begun));
}

void check_rank(const char *call, int rank, int size) {
    if (rank < 0 || rank >= size)
        throw std::out_of_range("fult-comm: " + std::string(call) + ": there is no rank " +
                                std::to_string(rank) + "; the job has " + std::to_string(size));
}

} // namespace

int detail::launched_ranks() noexcept { return ranks_by_launcher(); }

context::context(const options &settings) : job_(start(settings)) {}
context::~context() {
    if (fult::detail::in_forked_child())
        (void)job_.release(); // the parent is the rank: its end is announced by itself
}

int context::rank() const noexcept { return job_->boot->rank(); }
int context::size() const noexcept { return job_->boot->size(); }
const char *context::launcher() const noexcept { return job_->boot->name(); }

const char *context::route_to(int rank) const {
    fult::detail::check_not_forked();
    check_rank("route_to", rank, size());
    return job_->first_device->route_name(rank);
}

bool context::has_failed(int rank) const {
    fult::detail::check_not_forked();
    check_rank("has_failed", rank, size());
    return job_->is_lost(rank);
}

std::uint64_t context::refused_packets() const noexcept {
    fult::detail::check_not_forked();
    return job_->refused_packets();
}

endpoint &context::world() noexcept { return job_->world; }
endpoint context::make_endpoint(endpoint_options options) {
    fult::detail::check_not_forked();
    return job_->make_endpoint(std::move(options));
}
bool context::progress() noexcept {
    fult::detail::check_not_forked();
    return job_->progress();
}

void context::abort(int status, const std::string &reason) {
    fult::detail::check_not_forked();
    job_->boot->abort(status, reason);
    std::_Exit(status == 0 ? 1 : status);
}

} // namespace fult::comm
