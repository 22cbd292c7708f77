// Calls in C with wrong arguments: a status, a reason, and nothing else.
#include <limits>

#include "tests/comm/random/in_c.hpp"

namespace fult::comm::testing {
namespace {

void never(void *, const fult_comm_envelope *, const void *) { std::abort(); }

void refuse_no_endpoint(const scene &in, const char *call, int status) {
    expect_status(in, call, status, is_in_c() ? int{FULT_ERR_INVALID} : int{FULT_COMM_ERR_NO_CONTEXT});
}

void refuse_messages(scene &in, fult_comm_endpoint_t c, dice &roll) {
    char byte = 0;
    fult_comm_request_t request = nullptr;
    fult_comm_envelope envelope{-7, 7, 7};
    const int nowhere = roll.chance(50) ? in.me.size + roll.below(100) : -2 - roll.below(100),
              own = in.me.rank;
    const std::int64_t no_tag = roll.chance(50) ? std::int64_t{1} << 32 : -2;
    const fult_comm_const_buffer no_piece{nullptr, 3};
    const fult_comm_mutable_buffer no_room{nullptr, 3};
    std::size_t index = 0;
    const auto wrong = [&](const char *call, int status) {
        expect_status(in, call, status, FULT_ERR_INVALID);
        in.expect(*fult_comm_error_text() != '\0', std::string(call) + " is refused without a reason");
    };
    switch (roll.below(12)) {
    case 0:
        wrong("send", fult_comm_send(c, nullptr, 1, own, 1));
        wrong("send", fult_comm_send(c, &byte, 1, nowhere, 1));
        return refuse_no_endpoint(in, "send", fult_comm_send(nullptr, &byte, 1, own, 1));
    case 1:
        wrong("recv", fult_comm_recv(c, nullptr, 1, own, 1, &envelope));
        wrong("recv", fult_comm_recv(c, &byte, 1, nowhere, 1, &envelope));
        wrong("recv", fult_comm_recv(c, &byte, 1, own, no_tag, &envelope));
        break;
    case 2:
        wrong("recv", fult_comm_recv(c, &byte, 1, FULT_COMM_ANY_SOURCE, 1, &envelope));
        wrong("recv", fult_comm_recv(c, &byte, 1, own, FULT_COMM_ANY_TAG, &envelope));
        break;
    case 3:
        wrong("sendrecv", fult_comm_sendrecv(c, &byte, 1, own, 1, nullptr, 1, own, 1, &envelope));
        wrong("sendrecv", fult_comm_sendrecv(c, &byte, 1, nowhere, 1, &byte, 1, own, 1, &envelope));
        wrong("sendrecv", fult_comm_sendrecv(c, &byte, 1, own, 1, &byte, 1, own, no_tag, &envelope));
        break;
    case 4:
        wrong("sendv", fult_comm_sendv(c, nullptr, 2, own, 1));
        return wrong("sendv", fult_comm_sendv(c, &no_piece, 1, own, 1));
    case 5:
        wrong("recvv", fult_comm_recvv(c, nullptr, 2, own, 1, &envelope));
        wrong("recvv", fult_comm_recvv(c, &no_room, 1, own, 1, &envelope));
        break;
    case 6:
        wrong("probe", fult_comm_probe(c, nowhere, 1, &envelope));
        wrong("try_probe", fult_comm_try_probe(c, own, no_tag, &envelope));
        break;
    case 7:
        wrong("enqueue", fult_comm_enqueue(c, nullptr, 1, own, 1));
        return wrong("enqueue", fult_comm_enqueue(c, &byte, 1, nowhere, 1));
    case 8: {
        void *data = &byte;
        wrong("dequeue", fult_comm_dequeue(c, &data, &envelope));
        wrong("dequeue", fult_comm_dequeue(c, nullptr, &envelope));
        in.expect(data == &byte, "a refused dequeue stores a message");
        break;
    }
    case 9:
        wrong("isend", fult_comm_isend(c, &byte, 1, nowhere, 1, &request));
        wrong("isend", fult_comm_isend(c, nullptr, 1, own, 1, &request));
        wrong("isend", fult_comm_isend(c, &byte, 1, own, 1, nullptr));
        break;
    case 10:
        wrong("irecv", fult_comm_irecv(c, &byte, 1, nowhere, 1, &request));
        wrong("irecv", fult_comm_irecv(c, &byte, 1, own, no_tag, &request));
        wrong("irecv", fult_comm_irecv(c, nullptr, 1, own, 1, &request));
        break;
    default:
        wrong("wait", fult_comm_wait(nullptr, &envelope));
        wrong("test", fult_comm_test(nullptr, &envelope));
        wrong("wait_all", fult_comm_wait_all(nullptr, 1, nullptr, nullptr));
        wrong("wait_any", fult_comm_wait_any(nullptr, 1, &index, &envelope));
        wrong("wait_any", fult_comm_wait_any(&request, 1, nullptr, &envelope));
    }
    in.expect(!request, "a refused call stores a request");
    in.expect(envelope.source == -7 && envelope.tag == 7 && envelope.size == 7,
              "a refused call stores an envelope");
}

void refuse_together(scene &in, fult_comm_endpoint_t c, dice &roll) {
    std::uint32_t data[4] = {}, out[4] = {};
    const std::size_t sizes[64] = {};
    const int nowhere = roll.chance(50) ? in.me.size : -1, own = in.me.rank;
    // Another actor's call on this endpoint, which is refused too, and the loss of a rank come first.
    const auto wrong = [&](const char *call, int status) {
        if (status != FULT_COMM_ERR_IN_USE &&
            !(status == FULT_COMM_ERR_PEER_FAILED && in.may_be_lost(any_rank)))
            expect_status(in, call, status, FULT_ERR_INVALID);
    };
    switch (roll.below(7)) {
    case 0:
        return refuse_no_endpoint(in, "barrier", fult_comm_barrier(nullptr));
    case 1:
        wrong("broadcast", fult_comm_broadcast(c, data, sizeof data, nowhere));
        return wrong("broadcast", fult_comm_broadcast(c, nullptr, 4, 0));
    case 2:
        wrong("reduce", fult_comm_reduce(c, data, out, 4, FULT_COMM_UINT32, FULT_COMM_SUM, nowhere));
        return wrong("reduce", fult_comm_reduce(c, data, nullptr, 4, FULT_COMM_UINT32, FULT_COMM_SUM, own));
    case 3:
        wrong("allreduce", fult_comm_allreduce(c, data, out, 4, 99, FULT_COMM_SUM));
        wrong("allreduce", fult_comm_allreduce(c, data, out, 4, FULT_COMM_DOUBLE, FULT_COMM_BITWISE_XOR));
        wrong("allreduce", fult_comm_allreduce(c, data, out, 4, FULT_COMM_INT8, 99));
        return wrong("allreduce", fult_comm_allreduce(c, data, out, std::numeric_limits<std::size_t>::max(),
                                                      FULT_COMM_INT64, FULT_COMM_SUM));
    case 4:
        wrong("gather", fult_comm_gather(c, data, 4, nullptr, own));
        return wrong("gather", fult_comm_gather(c, data, 4, out, nowhere));
    case 5:
        wrong("allgather", fult_comm_allgather(c, nullptr, 4, out));
        return wrong("alltoall", fult_comm_alltoall(c, data, 4, nullptr));
    default:
        wrong("alltoallv", fult_comm_alltoallv(c, data, nullptr, out, sizes));
        wrong("alltoallv", fult_comm_alltoallv(c, data, sizes, out, nullptr));
        return wrong("allreduce_with", fult_comm_allreduce_with(c, data, out, 4, 4, nullptr, nullptr));
    }
}

// What only a context of the C interface has.
void refuse_objects(scene &in, dice &roll) {
    if (!is_in_c())
        return expect_status(in, "send without a context", fult_comm_send(nullptr, nullptr, 0, 0, 0),
                             FULT_COMM_ERR_NO_CONTEXT);
    fult_comm_endpoint_t made = nullptr;
    fult_comm_endpoint_attr attr = FULT_COMM_ENDPOINT_ATTR_INIT;
    const auto wrong = [&](const char *call, int status) {
        expect_status(in, call, status, FULT_ERR_INVALID);
        in.expect(!made, "a refused endpoint is stored");
    };
    switch (roll.below(6)) {
    case 0:
        attr.delivery = roll.chance(50) ? FULT_COMM_HANDLED : FULT_COMM_AS_A_TASK; // without a handler
        return wrong("endpoint_create", fult_comm_endpoint_create(&made, &attr));
    case 1:
        attr.handler = never;
        attr.delivery = roll.chance(50) ? -1 : 4;
        return wrong("endpoint_create", fult_comm_endpoint_create(&made, &attr));
    case 2:
        attr.size = roll.below(sizeof attr);
        return wrong("endpoint_create", fult_comm_endpoint_create(&made, &attr));
    case 3:
        wrong("endpoint_create", fult_comm_endpoint_create(nullptr, &attr));
        wrong("endpoint_destroy", fult_comm_endpoint_destroy(nullptr));
        return wrong("endpoint_destroy", fult_comm_endpoint_destroy(fult_comm_world()));
    case 4:
        expect_status(in, "init", fult_comm_init(nullptr),
                      fult::in_task() ? int{FULT_COMM_ERR_RUNNING} : int{FULT_ERR_NOT_A_TASK});
        in.expect(fult_comm_rank() == in.me.rank && fult_comm_size() == in.me.size, "another rank in C");
        in.expect(!fult_comm_route(in.me.size) && !fult_comm_route(-1) && fult_comm_route(in.me.rank),
                  "fult_comm_route");
        return in.expect(fult_comm_failed(-1) == -1 && fult_comm_failed(in.me.size) == -1 &&
                             fult_comm_failed(in.me.rank) == 0,
                         "fult_comm_failed");
    default: {
        fult_comm_region_t region = nullptr;
        int number = 0;
        wrong("region_create", fult_comm_region_create(&region, fult_comm_world(), nullptr, 4));
        wrong("region_create", fult_comm_region_create(nullptr, fult_comm_world(), &number, 4));
        wrong("region_create_const", fult_comm_region_create_const(&region, nullptr, &number, 4));
        wrong("region_destroy", fult_comm_region_destroy(nullptr));
        in.expect(!region, "a refused region is stored");
    }
    }
}

} // namespace

void refuse_in_c(actor &by, endpoint &through) {
    as_in_c c(through);
    by.doing("refused in C");
    switch (by.roll.below(3)) {
    case 0:
        return refuse_messages(by.in, c, by.roll);
    case 1:
        return refuse_together(by.in, c, by.roll);
    default:
        return refuse_objects(by.in, by.roll);
    }
}

} // namespace fult::comm::testing
