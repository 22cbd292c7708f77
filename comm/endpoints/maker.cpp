#include "comm/endpoints/maker.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include <fult/detail/assertion.hpp>

#include "comm/endpoints/agreement.hpp"

namespace fult::comm::detail {
namespace {

// A pair of ids in use by an endpoint and its collective context.
struct number {
    endpoint_ids &of;
    unsigned pair = endpoint_ids::pairs; // none yet
    explicit number(endpoint_ids &all) noexcept : of(all) {}
    number(const number &) = delete;
    number &operator=(const number &) = delete;
    ~number() {
        if (pair != endpoint_ids::pairs)
            of.give(pair);
    }
};

// While this rank offers ids, messages may come for an endpoint that is not attached yet.
class expecting {
  public:
    explicit expecting(device &device) noexcept : device_(device) { device_.expect_endpoint(); }
    expecting(const expecting &) = delete;
    expecting &operator=(const expecting &) = delete;
    ~expecting() { device_.end_expected_endpoint(); }

  private:
    device &device_;
};

// The numbers in the job of the listed ranks.
std::vector<int> in_job(const endpoint_state &parent, std::span<const int> members) {
    std::vector<int> all;
    all.reserve(members.size());
    for (const int each : members) {
        parent.check_rank("subset", each);
        all.push_back(parent.world_rank(each));
    }
    std::vector<int> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
        throw std::invalid_argument("fult-comm: subset: " + parent.name_of(parent.own_rank(*twice)) +
                                    " is listed twice");
    return all;
}

bool is_whole_job(const std::vector<int> &members, int size) noexcept {
    for (std::size_t i = 0; i < members.size(); ++i)
        if (members[i] != static_cast<int>(i))
            return false;
    return members.size() == static_cast<std::size_t>(size);
}

} // namespace

device &endpoint_maker::device_of(const endpoint_options &options, const char *call) const {
    if (options.device < devices_.size())
        return *devices_[options.device];
    throw std::out_of_range("fult-comm: " + std::string(call) + ": there is no device " +
                            std::to_string(options.device) + "; the context was started with " +
                            std::to_string(devices_.size()) + " (FULT_COMM_DEVICES)");
}

endpoint endpoint_maker::attach(device &device, unsigned pair, endpoint_options options,
                                const endpoint_origin &from) {
    const auto id = static_cast<std::uint16_t>(2 * pair);
    auto made = std::make_shared<endpoint_state>(device, id, std::move(options), false, from);
    auto collective_context = std::make_shared<endpoint_state>(device, static_cast<std::uint16_t>(id + 1),
                                                               endpoint_options{}, true, from);
    device.attach(*made, *collective_context);
    made->collective_context = endpoint_access::handle_of(std::move(collective_context));
    return endpoint_access::handle_of(std::move(made));
}

void endpoint_maker::begin() {
    unsigned pair = 0;
    ids_.take_next(pair);
    FULT_ASSERT(pair == 0, "these are the first ones");
    device &device = *devices_.front();
    auto control = std::make_shared<endpoint_state>(device, std::uint16_t{0}, endpoint_options{});
    auto agreements = std::make_shared<endpoint_state>(device, std::uint16_t{1}, endpoint_options{});
    device.attach(*control, *agreements);
    control_ = endpoint_access::handle_of(std::move(control));
    agreements_ = endpoint_access::handle_of(std::move(agreements));
}

void endpoint_maker::end() noexcept {
    control_ = endpoint();
    agreements_ = endpoint();
}

endpoint endpoint_maker::make(endpoint_options options) {
    device &device = device_of(options, "make_endpoint");
    unsigned pair = 0;
    if (!ids_.take_next(pair))
        throw std::length_error(
            "fult-comm: a context makes no more than " + std::to_string(endpoint_ids::pairs) +
            " endpoints of the whole job, including the world, one of the library's, those "
            "that were destroyed, and those of endpoint::subset that exist; keep endpoints "
            "and use them again");
    try {
        return attach(device, pair, std::move(options), {this, nullptr, nullptr});
    } catch (...) {
        ids_.give_back_next(); // a refused one takes no number
        throw;
    }
}

endpoint endpoint_maker::make_subset(const endpoint_state &parent, std::span<const int> members,
                                     std::int64_t tag, endpoint_options options) {
    device &device = device_of(options, "subset");
    endpoint_state::check_options(options);
    const std::uint32_t its_tag = endpoint_state::check_tag("subset", tag);
    std::vector<int> all = in_job(parent, members);
    const auto own = std::find(all.begin(), all.end(), device.rank());
    if (own == all.end())
        throw std::invalid_argument("fult-comm: subset: " + parent.name_of(parent.rank) +
                                    " calls it, and is not in the list; exactly the listed ranks call it");
    const auto position = static_cast<int>(own - all.begin());
    const auto its = std::make_shared<number>(ids_);
    auto table = std::make_shared<const member_table>(std::move(all));
    const expecting messages(device);
    its->pair = agreement(agreements_, ids_, table->in_job(), position, parent.id, its_tag).pair();
    const unsigned pair = its->pair;
    if (is_whole_job(table->in_job(), device.size()))
        table = nullptr;
    return attach(device, pair, std::move(options), {this, std::move(table), its});
}

} // namespace fult::comm::detail
