#include "comm/bootstrap/bootstrap.hpp"
#include "comm/bootstrap/support.hpp"

namespace fult::comm::detail {
namespace {

// No launcher: the program was started directly.
class one_rank final : public bootstrap {
  public:
    one_rank() noexcept : bootstrap(0, 1) {}

    const char *name() const noexcept override { return "one rank"; }

    std::vector<std::string> exchange(std::string_view contribution) override {
        check_contribution(contribution);
        return {std::string(contribution)};
    }
    void barrier() override {}
    void abort(int status, std::string_view reason) noexcept override {
        write_reason(rank(), reason);
        leave(status);
    }
};

} // namespace

std::unique_ptr<bootstrap> connect_one_rank() { return std::make_unique<one_rank>(); }

} // namespace fult::comm::detail
