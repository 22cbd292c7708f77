#include "comm/bootstrap/support.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm/bootstrap/bootstrap.hpp"
#include "fult/base/numbers.hpp"

namespace fult::comm::detail {

int deadline::left() const noexcept {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(at_ - std::chrono::steady_clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 1'000'000'000));
}

std::string printed(std::chrono::milliseconds time) {
    if (time.count() % 1000 == 0)
        return std::to_string(time.count() / 1000) + " s";
    return std::to_string(time.count()) + " ms";
}

int launcher_number(const char *variable, int low, int high) {
    const char *text = std::getenv(variable);
    if (text == nullptr)
        throw bootstrap_error(std::string("fult: the launcher has not set ") + variable +
                              ": start the program by the launcher itself, or unset its other variables");
    const auto value = fult::detail::whole_number<int>(text);
    if (!value || *value < low || *value > high)
        throw bootstrap_error(std::string("fult: ") + variable + "='" + text + "' must be a number from " +
                              std::to_string(low) + " to " + std::to_string(high) +
                              "; it is the launcher's to set");
    return *value;
}

void check_launcher_socket(const char *variable, int descriptor) {
    struct stat found {};
    if (::fstat(descriptor, &found) != 0 || !S_ISSOCK(found.st_mode))
        throw bootstrap_error(
            std::string("fult: ") + variable + "=" + std::to_string(descriptor) +
            " is no connection to a launcher. Was the program started by a rank instead of the "
            "launcher? Then unset " +
            variable + " for it");
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

void check_contribution(std::string_view contribution) {
    if (contribution.size() > max_contribution)
        throw bootstrap_error("fult: an exchange of " + std::to_string(contribution.size()) +
                              " bytes: the bootstrap carries at most " + std::to_string(max_contribution) +
                              " a rank; send more by messages");
}

bool wait_for(int descriptor, short events, const deadline &until) {
    for (;;) {
        pollfd each{descriptor, events, 0};
        const int ready = ::poll(&each, 1, until.left());
        if (ready > 0)
            return true;
        if (ready == 0)
            return false;
        if (errno != EINTR)
            throw bootstrap_error(std::string("fult: poll on the launcher's connection: ") +
                                  std::strerror(errno));
    }
}

void write_reason(int rank, std::string_view reason) noexcept {
    char text[1024];
    const int length =
        std::snprintf(text, sizeof text, "fult: rank %d ends all ranks: %.*s\n", rank,
                      static_cast<int>(std::min<std::size_t>(reason.size(), 900)), reason.data());
    if (::write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0)
        return;
}

void leave(int status) noexcept { std::_Exit((status & 0xff) == 0 ? 1 : status & 0xff); }

} // namespace fult::comm::detail
