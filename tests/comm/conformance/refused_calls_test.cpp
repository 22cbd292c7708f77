// What calls with wrong arguments say: the call, the thing, and the remedy where there is one.
#include <array>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fult/comm.h>
#include <fult/comm.hpp>
#include <fult/fult.hpp>

#include "tests/support/support.hpp"

namespace {
namespace refused_calls {

using namespace fult::comm;
using fult::testing::workers;

constexpr std::size_t too_large = std::numeric_limits<std::size_t>::max();

// Objects of the only rank of a job.
struct things {
    context net;
    endpoint &world = net.world();
    endpoint queue = net.make_endpoint({.delivery = delivery::queued});
    endpoint empty;
    std::array<char, 64> memory{};
    int number = 0;
    region shown{world, memory.data(), memory.size()};
    region read_only{world, static_cast<const void *>(memory.data()), memory.size()};
    remote_region withdrawn() { return region(world, memory.data(), memory.size()).remote(); }
    remote_region elsewhere() {
        remote_region there = shown.remote();
        there.rank = 5;
        return there;
    }
    const std::vector<std::size_t> two_counts{1, 1}, one_count{1};
    std::vector<double> one{1}, two{1, 2};
};

struct refused {
    void (*call)(things &);
    const char *says; // all of it, or the beginning
};

const refused of_ranks_and_tags[] = {
    {[](things &t) { t.world.send(1, 1, 1); },
     "fult-comm: send: there is no rank 1; the job has 1: start the program with `fult-run -n 2` for two"},
    {[](things &t) { t.world.send(1, -1, 1); }, "fult-comm: send: there is no rank -1; the job has 1"},
    {[](things &t) { t.world.send(1, 0, -1); }, "fult-comm: send: tag -1; tags are 0 to 4294967295"},
    {[](things &t) { (void)t.world.isend(&t.number, 4, -1, 1); }, "fult-comm: isend: there is no rank -1"},
    {[](things &t) { (void)t.world.issend(&t.number, 4, -1, 1); }, "fult-comm: issend: there is no rank -1"},
    {[](things &t) { t.world.ssend(&t.number, 4, -1, 1); }, "fult-comm: ssend: there is no rank -1"},
    {[](things &t) { (void)t.world.enqueue(&t.number, 4, 0, -2); }, "fult-comm: enqueue: tag -2"},
    {[](things &t) { t.world.recv<int>(2, 1); }, "fult-comm: recv: there is no rank 2"},
    {[](things &t) { (void)t.world.irecv(&t.number, 4, 2, 1); }, "fult-comm: irecv: there is no rank 2"},
    {[](things &t) { t.world.probe(2, 1); }, "fult-comm: probe: there is no rank 2"},
    {[](things &t) { (void)t.world.try_probe(0, std::int64_t{1} << 32); },
     "fult-comm: try_probe: tag 4294967296; tags are 0 to 4294967295"},
    {[](things &t) { (void)t.world.mprobe(2, 1); }, "fult-comm: mprobe: there is no rank 2"},
    {[](things &t) { (void)t.world.try_mprobe(2, 1); }, "fult-comm: try_mprobe: there is no rank 2"},
    {[](things &t) { (void)t.net.route_to(3); }, "fult-comm: route_to: there is no rank 3; the job has 1"},
    {[](things &t) { (void)t.world.route_to(3); },
     "fult-comm: route_to: there is no rank 3; the job has 1: start the program with `fult-run -n 2`"},
    {[](things &t) { (void)t.net.has_failed(-1); },
     "fult-comm: has_failed: there is no rank -1; the job has 1"},
};

const refused of_endpoints[] = {
    {[](things &t) { t.world.recv<int>(any_source, 1); },
     "fult-comm: recv: any_source and any_tag need an endpoint that was made with wildcards"},
    {[](things &t) { (void)t.world.irecv(&t.number, 4, 0, any_tag); },
     "fult-comm: irecv: any_source and any_tag need an endpoint that was made with wildcards"},
    {[](things &t) { t.queue.recv<int>(0, 1); },
     "fult-comm: recv: this endpoint's messages are not matched; make one with delivery::matched"},
    {[](things &t) { (void)t.world.dequeue(); },
     "fult-comm: dequeue: the endpoint has no queue; make one with delivery::queued"},
    {[](things &t) { t.empty.send(1, 0, 1); }, "fult-comm: send: the endpoint is empty (moved from?)"},
    {[](things &t) { t.empty.recv<int>(0, 1); }, "fult-comm: recv: the endpoint is empty (moved from?)"},
    {[](things &t) { (void)t.empty.dequeue(); }, "fult-comm: dequeue: the endpoint is empty (moved from?)"},
    {[](things &t) { barrier(t.empty); }, "fult-comm: barrier: the endpoint is empty (moved from?)"},
    {[](things &t) { alltoall(t.empty, t.two, t.two); },
     "fult-comm: alltoall: the endpoint is empty (moved from?)"},
    {[](things &t) { matched_message().recv(&t.number, 4); },
     "fult-comm: matched_message::recv: there is no message; it was received before, or moved from"},
    {[](things &t) { t.net.make_endpoint({.delivery = delivery::handler}); },
     "fult-comm: an endpoint whose messages are handled needs a handler"},
    {[](things &t) { t.net.make_endpoint({.rank_ended = [](int, errc) {}}); },
     "fult-comm: rank_ended is for endpoints whose messages are handled (delivery::handler)"},
    {[](things &t) { t.net.make_endpoint({.size = 8}); }, "fult-comm: endpoint: options.size is 8"},
    {[](things &t) { t.net.make_endpoint({.device = 9}); },
     "fult-comm: make_endpoint: there is no device 9; the context was started with 1 (FULT_COMM_DEVICES)"},
    {[](things &t) {
         t.world.subset(std::array{0, 0});
     },
     "fult-comm: subset: rank 0 is listed twice"},
    {[](things &t) { t.world.subset(std::span<const int>()); },
     "fult-comm: subset: rank 0 calls it, and is not in the list; exactly the listed ranks call it"},
    {[](things &t) { t.world.subset(std::array{3}); }, "fult-comm: subset: there is no rank 3"},
    {[](things &t) { t.world.subset(std::array{0}, -1); }, "fult-comm: subset: tag -1; tags are 0 to"},
};

const refused of_memory[] = {
    {[](things &t) {
         t.world.send(1, 0, 3);
         t.world.recv<double>(0, 3);
     },
     "fult-comm: recv: the message of rank 0, tag 3 has 4 bytes, not 8"},
    {[](things &t) {
         t.world.send(t.memory, 0, 4);
         t.world.recv(&t.number, 4, 0, 4);
     },
     "fult-comm: recv: the message of rank 0, tag 4 has 64 bytes, and the receive has room for 4; receive it "
     "into a larger one, or probe first"},
    {[](things &t) {
         request r = t.world.irecv(&t.number, 4, 0, 5);
         EXPECT_TRUE(r.cancel());
         r.wait();
     },
     "fult-comm: wait: the operation was cancelled"},
    {[](things &t) {
         const const_buffer pieces[] = {{&t.number, too_large}, {&t.number, 2}};
         t.world.send(pieces, 0, 1);
     },
     "fult-comm: no memory is as large as all buffers of a message"},
    {[](things &t) { put(t.world, t.memory.data(), 8, t.shown.remote(), 60); },
     "fult-comm: put: 8 bytes from offset 60 on are not within the region, which has 64"},
    {[](things &t) { iput(t.world, t.memory.data(), 1, t.read_only.remote(), 0); },
     "fult-comm: iput: the region was offered for reading only"},
    {[](things &t) { get(t.world, t.memory.data(), 8, t.elsewhere(), 0); },
     "fult-comm: get: the region is of rank 5 of the job, which is none of the endpoint's"},
    {[](things &t) { put_signal(t.world, t.memory.data(), 8, t.shown.remote(), 0, -1); },
     "fult-comm: put_signal: tag -1"},
    {[](things &t) { get(t.world, t.memory.data(), 8, t.withdrawn(), 0); },
     "fult-comm: get: rank 0 has withdrawn the region, or never offered it so; let it end no earlier than "
     "what others do with it"},
    {[](things &t) { broadcast(t.world, t.one, 4); },
     "fult-comm: broadcast: the root cannot be rank 4; the endpoint has 1"},
    {[](things &t) { alltoallv(t.world, t.two, t.two_counts, t.two, t.one_count); },
     "fult-comm: alltoallv: in_counts has 2 elements; it must have 1"},
    {[](things &t) { gatherv(t.world, t.one, t.two, t.one_count, 0); },
     "fult-comm: gatherv: out has 2 elements; it must have 1"},
};

// A row of this has a status and the text of fult_comm_error_text.
struct refused_in_c {
    int (*call)(fult_comm_endpoint_t world);
    const char *says;
};

int spare[4];
const refused_in_c in_c[] = {
    {[](fult_comm_endpoint_t) { return fult_comm_send(nullptr, spare, 4, 0, 1); },
     "fult_comm_send: the endpoint is NULL; take fult_comm_world() or one of fult_comm_endpoint_create"},
    {[](fult_comm_endpoint_t w) { return fult_comm_send(w, nullptr, 4, 0, 1); },
     "fult_comm_send: the memory is NULL, and its size is not 0"},
    {[](fult_comm_endpoint_t w) { return fult_comm_send(w, spare, 4, 1, 1); },
     "fult-comm: send: there is no rank 1; the job has 1: start the program with `fult-run -n 2` for two"},
    {[](fult_comm_endpoint_t w) { return fult_comm_sendv(w, nullptr, 2, 0, 1); },
     "fult_comm_sendv: the list is NULL, and its length is not 0"},
    {[](fult_comm_endpoint_t w) {
         const fult_comm_const_buffer piece{nullptr, 3};
         return fult_comm_sendv(w, &piece, 1, 0, 1);
     },
     "fult_comm_sendv: part 0: the memory is NULL, and its size is not 0"},
    {[](fult_comm_endpoint_t w) {
         fult_comm_envelope envelope;
         return fult_comm_recv(w, spare, 4, FULT_COMM_ANY_SOURCE, 1, &envelope);
     },
     "fult-comm: recv: any_source and any_tag need an endpoint that was made with wildcards"},
    {[](fult_comm_endpoint_t w) { return fult_comm_reduce(w, spare, spare, 1, 99, FULT_COMM_SUM, 0); },
     "fult-comm: reduction: the type is 99, which enum fult_comm_type does not name"},
    {[](fult_comm_endpoint_t w) { return fult_comm_reduce(w, spare, spare, 1, FULT_COMM_INT32, 99, 0); },
     "fult-comm: reduction: the operation is 99, which enum fult_comm_op does not name, or not for this "
     "type"},
    {[](fult_comm_endpoint_t) {
         const fult_comm_endpoint_attr attr{};
         fult_comm_endpoint_t made = nullptr;
         return fult_comm_endpoint_create(&made, &attr);
     },
     "fult_comm_endpoint_create: attr->size is not sizeof(fult_comm_endpoint_attr); start from "
     "FULT_COMM_ENDPOINT_ATTR_INIT"},
    {[](fult_comm_endpoint_t) {
         fult_comm_endpoint_attr attr = FULT_COMM_ENDPOINT_ATTR_INIT;
         attr.delivery = 9;
         fult_comm_endpoint_t made = nullptr;
         return fult_comm_endpoint_create(&made, &attr);
     },
     "fult_comm_endpoint_create: attr->delivery is 9, which enum fult_comm_delivery does not name"},
    {[](fult_comm_endpoint_t) { return fult_comm_region_destroy(nullptr); },
     "fult_comm_region_destroy: the region is NULL"},
};

// After each call everything else still works.
template <class Table> void are_refused(const Table &table) {
    const fult::runtime running(workers(1));
    things t;
    for (const refused &each : table) {
        std::string said = "nothing";
        try {
            each.call(t);
        } catch (const std::exception &error) {
            said = error.what();
        }
        EXPECT_EQ(said.substr(0, std::string(each.says).size()), each.says) << "all of it: " << said;
        t.world.send(7, 0, 9);
        EXPECT_EQ(t.world.recv<int>(0, 9), 7);
    }
}

TEST(refused_calls, name_ranks_and_tags) { are_refused(of_ranks_and_tags); }
TEST(refused_calls, name_what_the_endpoint_lacks) { are_refused(of_endpoints); }
TEST(refused_calls, name_memory_and_sizes) { are_refused(of_memory); }

TEST(refused_calls, in_c_have_a_status_and_a_text) {
    const fult::runtime running(workers(1));
    EXPECT_EQ(fult_comm_send(nullptr, spare, 4, 0, 1), int{FULT_COMM_ERR_NO_CONTEXT});
    EXPECT_STREQ(fult_comm_error_text(), fult_comm_strerror(FULT_COMM_ERR_NO_CONTEXT));
    ASSERT_EQ(fult_comm_init(nullptr), int{FULT_SUCCESS});
    for (const refused_in_c &each : in_c) {
        EXPECT_EQ(each.call(fult_comm_world()), int{FULT_ERR_INVALID}) << each.says;
        EXPECT_STREQ(fult_comm_error_text(), each.says);
    }
    EXPECT_EQ(fult_comm_finalize(), int{FULT_SUCCESS});
}

} // namespace refused_calls
} // namespace
