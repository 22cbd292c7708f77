// Init, finalize and endpoints.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <fult/this_task.hpp>

#include "comm/c_api/objects.hpp"
#include "comm/job/option_table.hpp"

namespace fult::comm::detail {
namespace {

std::atomic<c_context *> context_now{nullptr};
std::atomic<bool> context_claimed{false}; // from the beginning of init to the end of finalize

// Parses the value by the table of environment variables, which knows the permitted values.
void set(options &all, std::string_view variable, const std::string &value) {
    for (const comm_option_row &row : comm_option_table())
        if (row.variable == variable)
            fult::detail::set_option(row, all, value,
                                     "fult_comm_init: the option for " + std::string(variable) + " is '" +
                                         value + "'");
}
void set(options &all, std::string_view variable, const char *value) {
    if (value)
        set(all, variable, std::string(value));
}
void set(options &all, std::string_view variable, std::size_t value) {
    if (value != 0)
        set(all, variable, std::to_string(value));
}

options options_of(const fult_comm_options *given) {
    options all = comm::read_options();
    if (!given)
        return all;
    if (given->size < sizeof(fult_comm_options))
        throw std::invalid_argument(
            "fult_comm_init: options->size is not sizeof(fult_comm_options); start from "
            "FULT_COMM_OPTIONS_INIT");
    set(all, "FULT_COMM_SAME_HOST", given->same_host);
    set(all, "FULT_COMM_NETWORK", given->network);
    set(all, "FULT_COMM_INTERFACE", given->interface);
    set(all, "FULT_COMM_SERVER", given->server);
    set(all, "FULT_COMM_PACKET_SIZE", given->packet_size);
    set(all, "FULT_COMM_PACKETS", given->packets);
    set(all, "FULT_COMM_RENDEZVOUS", given->rendezvous);
    set(all, "FULT_COMM_UNEXPECTED", given->unexpected);
    if (given->gather >= 0)
        all.gather = given->gather != 0;
    set(all, "FULT_COMM_TIMEOUT", std::size_t{given->timeout});
    set(all, "FULT_COMM_HEARTBEAT", std::size_t{given->heartbeat});
    return all;
}

int fails(int status) noexcept { return set_status(status, fult_comm_strerror(status)); }

} // namespace

c_context *the_context() noexcept { return context_now.load(std::memory_order_acquire); }
int reject_without_context() noexcept { return fails(FULT_COMM_ERR_NO_CONTEXT); }

endpoint_options endpoint_options_of(const fult_comm_endpoint_attr *given, const char *call) {
    endpoint_options options;
    if (!given)
        return options;
    if (given->size < sizeof(fult_comm_endpoint_attr))
        throw std::invalid_argument(std::string(call) +
                                    ": attr->size is not sizeof(fult_comm_endpoint_attr); start from "
                                    "FULT_COMM_ENDPOINT_ATTR_INIT");
    if (given->delivery < FULT_COMM_MATCHED || given->delivery > FULT_COMM_AS_A_TASK)
        throw std::invalid_argument(std::string(call) + ": attr->delivery is " +
                                    std::to_string(given->delivery) +
                                    ", which enum fult_comm_delivery does not name");
    options.wildcards = given->wildcards != 0;
    options.delivery = static_cast<delivery>(given->delivery);
    if (given->handler)
        options.handler = [handler = given->handler, user = given->user](const status &envelope,
                                                                         std::span<const std::byte> bytes) {
            const fult_comm_envelope what{envelope.source, envelope.tag, envelope.size};
            handler(user, &what, bytes.data());
        };
    return options;
}

} // namespace fult::comm::detail

using namespace fult::comm::detail;

static_assert(static_cast<int>(fult::comm::delivery::matched) == FULT_COMM_MATCHED &&
              static_cast<int>(fult::comm::delivery::queued) == FULT_COMM_QUEUED &&
              static_cast<int>(fult::comm::delivery::handler) == FULT_COMM_HANDLED &&
              static_cast<int>(fult::comm::delivery::task) == FULT_COMM_AS_A_TASK);
static_assert(fult::comm::any_source == FULT_COMM_ANY_SOURCE && fult::comm::any_tag == FULT_COMM_ANY_TAG);

int fult_comm_init(const fult_comm_options *options) {
    if (fult_worker_count() == 0)
        return fails(FULT_ERR_NO_RUNTIME);
    if (!fult::in_task())
        return fails(FULT_ERR_NOT_A_TASK);
    if (context_claimed.exchange(true, std::memory_order_acquire))
        return fails(FULT_COMM_ERR_RUNNING);
    const int status = status_of("fult_comm_init", [&] {
        context_now.store(std::make_unique<c_context>(options_of(options)).release(),
                          std::memory_order_release);
        return int{FULT_SUCCESS};
    });
    if (status != FULT_SUCCESS)
        context_claimed.store(false, std::memory_order_release);
    return status;
}

int fult_comm_finalize(void) {
    if (!the_context())
        return fails(FULT_COMM_ERR_NO_CONTEXT);
    if (!fult::in_task())
        return fails(FULT_ERR_NOT_A_TASK);
    return status_of("fult_comm_finalize", [] {
        if (const std::size_t left = the_context()->left.load(std::memory_order_acquire)) {
            const std::string text =
                "fult_comm_finalize: endpoints or regions are left: " + std::to_string(left) +
                "; destroy each of them first";
            return set_status(FULT_COMM_ERR_IN_USE, text.c_str());
        }
        delete context_now.exchange(nullptr, std::memory_order_acq_rel);
        context_claimed.store(false, std::memory_order_release);
        return int{FULT_SUCCESS};
    });
}

int fult_comm_rank(void) { return the_context() ? the_context()->object.rank() : -1; }
int fult_comm_size(void) { return the_context() ? the_context()->object.size() : 0; }
const char *fult_comm_launcher(void) { return the_context() ? the_context()->object.launcher() : nullptr; }

const char *fult_comm_route(int rank) {
    return rank >= 0 && rank < fult_comm_size() ? the_context()->object.route_to(rank) : nullptr;
}
int fult_comm_failed(int rank) {
    if (rank < 0 || rank >= fult_comm_size())
        return -1;
    return the_context()->object.has_failed(rank) ? 1 : 0;
}
uint64_t fult_comm_refused_packets(void) {
    return the_context() ? the_context()->object.refused_packets() : 0;
}
int fult_comm_progress(void) { return the_context() && the_context()->object.progress() ? 1 : 0; }

void fult_comm_abort(int status, const char *reason) {
    if (c_context *now = the_context())
        now->object.abort(status, reason ? reason : "fult_comm_abort");
    std::fprintf(stderr, "fult-comm: %s\n", reason ? reason : "fult_comm_abort");
    std::_Exit(status == 0 ? 1 : status);
}

fult_comm_endpoint_t fult_comm_world(void) { return the_context() ? &the_context()->world : nullptr; }

int fult_comm_endpoint_create(fult_comm_endpoint_t *made, const fult_comm_endpoint_attr *attr) {
    if (!the_context())
        return fails(FULT_COMM_ERR_NO_CONTEXT);
    if (!made)
        return reject_argument("fult_comm_endpoint_create", "there is no place for the endpoint");
    return status_of("fult_comm_endpoint_create", [&] {
        *made = new fult_comm_endpoint(
            the_context()->object.make_endpoint(endpoint_options_of(attr, "fult_comm_endpoint_create")));
        the_context()->left.fetch_add(1, std::memory_order_relaxed);
        return int{FULT_SUCCESS};
    });
}

int fult_comm_endpoint_destroy(fult_comm_endpoint_t gone) {
    if (!gone)
        return reject_without_endpoint("fult_comm_endpoint_destroy");
    if (gone == fult_comm_world())
        return reject_argument("fult_comm_endpoint_destroy",
                               "this is the world, which fult_comm_finalize destroys");
    delete gone;
    the_context()->left.fetch_sub(1, std::memory_order_release);
    return FULT_SUCCESS;
}
