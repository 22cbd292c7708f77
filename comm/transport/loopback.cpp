#include "comm/transport/loopback.hpp"

#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fult/detail/address.hpp>
#include <fult/detail/misuse.hpp>

#include "comm/base/require_resources.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

// A rank's queue, and its registered memory.
struct mailbox {
    fult::detail::spin_lock lock;
    std::deque<std::vector<std::byte>> messages;
    bool cut = false;
    std::unordered_map<std::uint64_t, std::pair<std::uint64_t, std::size_t>>
        registered; // address and size by key
    std::uint64_t last_key = 0;
};

class loopback_hub {
  public:
    loopback_hub(int ranks, const loopback_settings &settings)
        : settings(settings), boxes(static_cast<std::size_t>(ranks)) {}
    mailbox &box(int rank) noexcept { return boxes[static_cast<std::size_t>(rank)]; }
    const loopback_settings settings;
    std::vector<mailbox> boxes;
};

namespace {

class loopback final : public transport {
  public:
    loopback(std::shared_ptr<loopback_hub> hub, int rank)
        : hub_(std::move(hub)), rank_(rank), advanced_(hub_->boxes.size()) {}

    const char *name() const noexcept override { return "loopback"; }
    transport_limits limits() const noexcept override {
        const loopback_settings &settings = hub_->settings;
        return {.inject = settings.inject,
                .message = settings.message,
                .one_sided = settings.one_sided,
                .local_keys = settings.local_keys,
                .guarded = settings.guarded,
                .window = settings.window,
                .stops_writes = true,
                .delivers_after_close = settings.delivers_after_close};
    }
    std::string address() const override { return "loopback:" + std::to_string(rank_); }
    void connect(std::span<const std::string>) override {}

    outcome inject(int rank, const void *bytes, std::size_t size) noexcept override {
        if (refuses())
            return outcome::again;
        return put(rank, bytes, size);
    }
    outcome send(packet &p) noexcept override {
        if (refuses())
            return outcome::again;
        check_registered(p.descriptor[0], p.data(), p.size);
        const outcome result = put(p.rank, p.data(), p.size);
        if (result == outcome::done)
            require_resources("loopback", [&] { events_.push_back({event_kind::sent, &p}); });
        return result;
    }
    bool has_advanced(int rank) noexcept override {
        return std::exchange(advanced_[static_cast<std::size_t>(rank)], char{}) != 0;
    }
    outcome post(packet &p) noexcept override {
        check_registered(p.descriptor[0], p.data(), p.capacity);
        require_resources("loopback", [&] { posted_.push_back(&p); });
        return outcome::done;
    }
    outcome read(transfer &t) noexcept override {
        return move(t, t.local, fult::detail::at_address<void>(t.address));
    }
    outcome write(transfer &t) noexcept override {
        return move(t, fult::detail::at_address<void>(t.address), t.local);
    }

    unsigned poll(std::span<event> events) noexcept override {
        unsigned count = 0;
        for (; count < events.size() && !events_.empty(); events_.pop_front())
            events[count++] = events_.front();
        mailbox &box = hub_->box(rank_);
        const std::lock_guard guard(box.lock);
        for (; count < events.size() && !posted_.empty() && !box.messages.empty(); box.messages.pop_front()) {
            packet &p = *posted_.front();
            posted_.pop_front();
            const auto &bytes = box.messages.front();
            std::memcpy(p.data(), bytes.data(), bytes.size());
            p.size = static_cast<std::uint32_t>(bytes.size());
            events[count++] = {event_kind::received, &p};
        }
        return count;
    }
    bool has_packet_of(int) noexcept override { // of any rank
        mailbox &box = hub_->box(rank_);
        const std::lock_guard guard(box.lock);
        return !box.messages.empty();
    }
    void forget(int) noexcept override {}
    bool register_memory(memory &m, access_rights) noexcept override {
        mailbox &box = hub_->box(rank_);
        const std::lock_guard guard(box.lock);
        m.address = fult::detail::address_of(m.base);
        m.key = ++box.last_key;
        m.descriptor = fult::detail::at_address<void>(m.key);
        try {
            box.registered[m.key] = {m.address, m.size};
        } catch (const std::bad_alloc &) {
            return false;
        }
        return true;
    }
    void deregister_memory(memory &m) noexcept override {
        mailbox &box = hub_->box(rank_);
        const std::lock_guard guard(box.lock);
        box.registered.erase(m.key);
    }

  private:
    // For operations of this rank; a violation is an error of the caller.
    void check_registered(void *descriptor, const void *at, std::size_t size) noexcept {
        if (!hub_->settings.local_keys)
            return;
        mailbox &box = hub_->box(rank_);
        const std::lock_guard guard(box.lock);
        const auto found = box.registered.find(fult::detail::address_of(descriptor));
        const auto begin = fult::detail::address_of(at);
        if (found == box.registered.end() || begin < found->second.first ||
            begin - found->second.first > found->second.second ||
            size > found->second.second - (begin - found->second.first))
            fult::detail::misuse("loopback", "an operation on memory that is not enrolled");
    }
    bool refuses() noexcept {
        const unsigned every = hub_->settings.refuse_every;
        return every != 0 && ++calls_ % every == 0;
    }
    outcome put(int rank, const void *bytes, std::size_t size) noexcept {
        mailbox &target = hub_->box(rank);
        const std::lock_guard guard(target.lock);
        if (target.cut)
            return outcome::failed;
        if (target.messages.size() >= hub_->settings.depth)
            return outcome::again;
        const auto *first = static_cast<const std::byte *>(bytes);
        try {
            target.messages.emplace_back(first, first + size);
        } catch (const std::bad_alloc &) {
            return outcome::again;
        }
        return outcome::done;
    }
    outcome move(transfer &t, void *to, const void *from) noexcept {
        if (refuses())
            return outcome::again;
        check_registered(t.descriptor, t.local, t.size);
        mailbox &box = hub_->box(t.rank);
        const std::lock_guard guard(box.lock);
        const auto found = box.registered.find(t.key);
        if (box.cut || found == box.registered.end())
            return outcome::failed;
        const auto [base, size] = found->second;
        if (t.address < base || t.address - base > size || t.size > size - (t.address - base))
            return outcome::failed;
        std::memcpy(to, from, t.size);
        advanced_[static_cast<std::size_t>(t.rank)] = true;
        require_resources("loopback", [&] { events_.push_back({event_kind::transferred, &t}); });
        return outcome::done;
    }

    std::shared_ptr<loopback_hub> hub_;
    int rank_;
    unsigned calls_ = 0;
    std::deque<packet *> posted_;
    std::deque<event> events_;
    std::vector<char> advanced_; // by rank: bytes of transfers have moved
};

} // namespace

std::shared_ptr<loopback_hub> make_loopback_hub(int ranks, const loopback_settings &settings) {
    return std::make_shared<loopback_hub>(ranks, settings);
}

std::unique_ptr<transport> open_loopback(std::shared_ptr<loopback_hub> hub, int rank) {
    return std::make_unique<loopback>(std::move(hub), rank);
}

void cut_off(loopback_hub &hub, int rank) noexcept {
    const std::lock_guard guard(hub.box(rank).lock);
    hub.box(rank).cut = true;
}

std::size_t packets_waiting(loopback_hub &hub, int rank) noexcept {
    const std::lock_guard guard(hub.box(rank).lock);
    return hub.box(rank).messages.size();
}

bool inject_bytes(loopback_hub &hub, int to, const void *bytes, std::size_t size) {
    mailbox &box = hub.box(to);
    const std::lock_guard guard(box.lock);
    const auto *first = static_cast<const std::byte *>(bytes);
    box.messages.emplace_back(first, first + size);
    return true;
}

} // namespace fult::comm::detail
