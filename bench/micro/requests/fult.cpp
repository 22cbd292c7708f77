// Requests that arrive at random, a task each, on one worker whose load is 80 %: how long each takes from its
// arrival to its end, by the order in which a worker runs its tasks (FULT_ORDER). Beside it: one server that
// takes the same requests in the order of their arrivals, computed.
#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include "common/clock.hpp"
#include "common/fult_version.hpp"
#include "common/micro.hpp"

namespace {
using namespace bench;

constexpr std::size_t requests = 100000;
constexpr double service = 10e-6; // seconds, mean of an exponential distribution
constexpr double load = 0.8;

struct request {
    double arrival; // seconds from the start on
    double work;    // seconds
    double latency = 0;
};

std::vector<request> draw() {
    std::mt19937_64 random(1);
    std::exponential_distribution<double> gap(load / service), work(1 / service);
    std::vector<request> all;
    double at = 0;
    for (std::size_t i = 0; i < requests; ++i)
        all.push_back({at += gap(random), work(random)});
    return all;
}

// Microseconds, of which this fraction takes no longer.
double latency_at(std::vector<request> &all, double fraction) {
    const auto nth = all.begin() + static_cast<std::ptrdiff_t>(fraction * double(all.size() - 1));
    std::nth_element(all.begin(), nth, all.end(),
                     [](const request &a, const request &b) { return a.latency < b.latency; });
    return nth->latency * 1e6;
}

void in_order_of_arrival(std::vector<request> &all) {
    double end = 0;
    for (request &each : all) {
        end = std::max(end, each.arrival) + each.work;
        each.latency = end - each.arrival;
    }
}

void serve(std::vector<request> &all) {
    std::size_t left = all.size();
    const double start = now();
    for (auto next = all.begin(); left != 0; fult::this_task::yield())
        for (; next != all.end() && next->arrival <= now() - start; ++next)
            fult::spawn([&, &each = *next] {
                for (const double end = now() + each.work; now() < end;) {
                }
                each.latency = now() - start - each.arrival;
                --left;
            }).detach();
}

std::string one_round(const char *order) {
    std::vector<request> served = draw(), ideal = served;
    in_order_of_arrival(ideal);
    serve(served);
    for (const double percent : {50.0, 99.0, 99.9, 100.0}) {
        char text[64];
        std::snprintf(text, sizeof text, "%s first, %g %%", order, percent);
        report({"requests", text, "fult", 1, latency_at(served, percent / 100), "us"},
               "one server in order of arrival", latency_at(ideal, percent / 100));
    }
    return {};
}

template <fult::spawn_order order>
const version ordered{"fult", 0, [](unsigned workers, const std::function<void()> &body) {
                          fult::options options = fult_options(workers);
                          options.order = order;
                          fult::runtime runtime(options);
                          body();
                      }};

template <fult::spawn_order order> int run(const char *name, const kernel_settings &settings) {
    return run_micro("requests", ordered<order>, settings, [&] { return one_round(name); });
}
} // namespace

int main(int argc, char **argv) {
    kernel_settings settings;
    arguments line("requests: random arrivals, a task each, one worker: microseconds from arrival to end.");
    settings.declare(line);
    line.parse(argc, argv);
    settings.workers = 1;
    const int failed = run<fult::spawn_order::depth_first>("newest", settings);
    return std::max(run<fult::spawn_order::breadth_first>("oldest", settings), failed);
}
