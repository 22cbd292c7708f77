#include "options.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <fult/detail/assertion.hpp>

#include "fult/base/option_row.hpp"

namespace fult::mpi {
namespace {

using namespace fult::detail; // the kinds of options

constexpr option_row<options> rows[] = {
    option<number_option<&options::poll_pause, microseconds, 0, 1'000'000>>(
        "FULT_MPI_POLL_PAUSE",
        "The longest pause between two polls of a rank that waits, in microseconds; 0: none."),
    option<number_option<&options::report_after, seconds, 0, 86'400>>(
        "FULT_MPI_REPORT_AFTER",
        "Seconds without a begin or an end of an operation, after which a rank reports its tasks; 0: never."),
    option<switch_option<&options::statistics>>(
        "FULT_MPI_STATS", "Each rank prints operations, polls and the longest wait at MPI_Finalize."),
};

// A wrong value is no reason to end a job: the default is taken.
void read(const option_row<options> &row, options &into) {
    const char *const text = environment_value(row);
    if (!text)
        return;
    try {
        set_option(row, into, text, std::string("fult-mpi: ") + row.variable + "='" + text + "' is ignored");
    } catch (const std::invalid_argument &error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    FULT_ASSERT(row.valid(into));
}

options read_environment_of_rank() {
    options result;
    for (const auto &row : rows)
        read(row, result);
    for_each_unknown(std::span<const option_row<options>>(rows), "FULT_MPI_",
                     [](std::string_view name, const std::string &question) {
                         std::fprintf(stderr,
                                      "fult-mpi: the environment variable %.*s is unknown; %s`fult-mpi "
                                      "--help` lists those that are\n",
                                      static_cast<int>(name.size()), name.data(), question.c_str());
                     });
    return result;
}

} // namespace

const options &the_options() noexcept {
    static const options one = read_environment_of_rank();
    return one;
}

} // namespace fult::mpi
