#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "comm/protocol/packet_buffers.hpp"

namespace {

using namespace fult::comm::detail;

// Keeps the packets that it is to receive into, and knows the memory that is registered.
class memory_keeper final : public transport {
  public:
    struct notes {
        std::vector<packet *> posted;
        std::set<const void *> registered;
        unsigned registrations = 0, most = ~0U; // later ones fail
        std::size_t room = 1000;                // for posted packets
    };
    explicit memory_keeper(notes &into) : notes_(into) {}

    const char *name() const noexcept override { return "keeper"; }
    transport_limits limits() const noexcept override { return {.message = 4096, .local_keys = true}; }
    std::string address() const override { return {}; }
    void connect(std::span<const std::string>) override {}
    outcome inject(int, const void *, std::size_t) noexcept override { return outcome::failed; }
    outcome send(packet &) noexcept override { return outcome::failed; }
    outcome post(packet &p) noexcept override {
        if (notes_.posted.size() == notes_.room)
            return outcome::again;
        notes_.posted.push_back(&p);
        return outcome::done;
    }
    outcome read(transfer &) noexcept override { return outcome::failed; }
    outcome write(transfer &) noexcept override { return outcome::failed; }
    unsigned poll(std::span<event>) noexcept override { return 0; }
    void forget(int) noexcept override {}
    bool register_memory(memory &m, access_rights) noexcept override {
        if (++notes_.registrations > notes_.most)
            return false;
        m.descriptor = this;
        return notes_.registered.insert(m.base).second;
    }
    void deregister_memory(memory &m) noexcept override { EXPECT_EQ(notes_.registered.erase(m.base), 1U); }

  private:
    notes &notes_;
};

// The packets of a device with so many transports.
struct device_parts {
    std::unique_ptr<memory_keeper::notes[]> notes;
    std::unique_ptr<device_core> core;

    explicit device_parts(std::size_t transports) : notes(new memory_keeper::notes[transports]) {}
    packet_buffers &make(std::size_t packets, std::size_t capacity, std::size_t transports) {
        std::vector<std::unique_ptr<transport>> all;
        for (std::size_t i = 0; i < transports; ++i)
            all.push_back(std::make_unique<memory_keeper>(notes[i]));
        device_settings settings;
        settings.packets = packets;
        settings.packet_size = capacity;
        core = std::make_unique<device_core>(settings, std::move(all), std::vector<int>{-1});
        buffers_ = std::make_unique<packet_buffers>(*core);
        return *buffers_;
    }
    void end() { buffers_.reset(); }

  private:
    std::unique_ptr<packet_buffers> buffers_;
};

std::vector<packet *> take_all(packet_buffers &from) {
    std::vector<packet *> all;
    while (packet *const p = from.take())
        all.push_back(p);
    return all;
}

TEST(packet_buffers, packets_are_whole_and_apart) {
    for (const std::size_t capacity :
         {1u, 64u, 200u, 3968u, 8064u}) { // the last two: heads a page apart, but for care
        device_parts parts(1);
        const std::vector<packet *> all = take_all(parts.make(100, capacity, 1));
        EXPECT_EQ(all.size() + parts.notes[0].posted.size(), 100U);
        std::set<std::uintptr_t> sets;
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(all[i]) % 64, 0U);
            EXPECT_EQ(all[i]->capacity, capacity);
            EXPECT_NE(all[i]->descriptor[0], nullptr);
            sets.insert(reinterpret_cast<std::uintptr_t>(all[i]) % 4096 / 64);
            std::memset(all[i]->data(), static_cast<int>(i), capacity);
        }
        EXPECT_GT(sets.size(), 3U);
        for (std::size_t i = 0; i < all.size(); ++i)
            EXPECT_TRUE(std::all_of(all[i]->data(), all[i]->data() + capacity,
                                    [&](std::byte b) { return b == std::byte(i); }));
    }
}

TEST(packet_buffers, the_last_given_is_taken_first) {
    device_parts parts(1);
    packet_buffers &buffers = parts.make(16, 200, 1);
    packet *const a = buffers.take(), *const b = buffers.take();
    buffers.give(*a);
    buffers.give(*b);
    EXPECT_EQ(buffers.take(), b);
    EXPECT_EQ(buffers.take(), a);
}

TEST(packet_buffers, each_transport_receives_into_some) {
    device_parts parts(2);
    packet_buffers &buffers = parts.make(80, 200, 2);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(parts.notes[i].posted.size(), 10U);
    const std::vector<packet *> sent = take_all(buffers); // senders never get these
    EXPECT_EQ(sent.size(), 60U);
    for (const packet *each : parts.notes[1].posted)
        EXPECT_EQ(std::count(sent.begin(), sent.end(), each), 0);
}

TEST(packet_buffers, what_has_no_room_is_posted_later) {
    device_parts parts(1);
    parts.notes[0].room = 1;
    packet_buffers &buffers = parts.make(40, 200, 1);
    EXPECT_EQ(parts.notes[0].posted.size(), 1U);
    parts.notes[0].room = 100;
    buffers.post_rest(0);
    EXPECT_EQ(parts.notes[0].posted.size(), 10U);
}

TEST(packet_buffers, memory_is_registered_by_the_slab_until_the_end) {
    device_parts parts(2);
    take_all(parts.make(150, 200, 2));
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(parts.notes[i].registered.size(), 3U); // 64, 64, 22
    parts.end();
    for (int i = 0; i < 2; ++i)
        EXPECT_TRUE(parts.notes[i].registered.empty());
}

TEST(packet_buffers, goes_on_with_what_could_be_registered) {
    device_parts parts(2);
    parts.notes[1].most = 1;
    packet_buffers &buffers = parts.make(1000, 200, 2);
    const std::vector<packet *> all = take_all(buffers);
    EXPECT_EQ(all.size(), 48U) << "some are left to send";
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(parts.notes[i].posted.size(), 8U);
    EXPECT_EQ(parts.notes[0].registered.size(), 1U) << "given back where the other one failed";
    parts.notes[1].most = 100;
    EXPECT_EQ(buffers.take(), nullptr) << "no further try";
    buffers.give(*all.at(0));
    EXPECT_EQ(buffers.take(), all[0]);
}

TEST(packet_buffers, needs_some) {
    device_parts parts(1);
    parts.notes[0].most = 0;
    EXPECT_THROW(parts.make(100, 200, 1), std::runtime_error);
}

} // namespace
