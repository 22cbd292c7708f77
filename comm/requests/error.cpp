// The category of errc, and the exception that carries it.
#include <fult/comm/status.hpp>

namespace fult::comm {

namespace {

class comm_category final : public std::error_category {
  public:
    const char *name() const noexcept override { return "fult-comm"; }

    std::string message(int code) const override {
        switch (static_cast<errc>(code)) {
        case errc::none:
            return "no error";
        case errc::truncated:
            return "the message was longer than the buffer";
        case errc::peer_failed:
            return "the other rank has ended or cannot be reached";
        case errc::cancelled:
            return "the operation was cancelled";
        case errc::retry:
            return "no space at present";
        case errc::refused:
            return "the region is not registered, or does not allow the operation";
        case errc::peer_left:
            return "the other rank's context has ended";
        }
        return "unknown error " + std::to_string(code);
    }

    std::error_condition default_error_condition(int code) const noexcept override {
        switch (static_cast<errc>(code)) {
        case errc::truncated:
            return std::errc::message_size;
        case errc::cancelled:
            return std::errc::operation_canceled;
        case errc::retry:
            return std::errc::resource_unavailable_try_again;
        case errc::refused:
            return std::errc::permission_denied;
        case errc::none:
        case errc::peer_failed:
        case errc::peer_left:
            break;
        }
        return {code, *this};
    }
};

} // namespace

const std::error_category &category() noexcept {
    static const comm_category only;
    return only;
}

error::~error() = default;
const char *error::what() const noexcept { return text_.what(); }

} // namespace fult::comm
