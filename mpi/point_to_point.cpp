// Blocking calls between two ranks that have no nonblocking form of their own in every version of the
// standard.
#include <cstddef>
#include <limits>
#include <memory>
#include <new>

#include "calls.hpp"
#include "own.hpp"

namespace fult::mpi::own {
namespace {

// A send and a receive under way together.
template <class Receive, class Send> class exchange final : public operation {
  public:
    exchange(const call_facts &facts, MPI_Status *status, Receive receive, Send send) noexcept
        : operation(facts), status_(status), receive_(receive), send_(send) {}

    int start() noexcept override {
        MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
        if (const int code = receive_(&receive); code != MPI_SUCCESS)
            return code;
        if (const int code = send_(&send); code != MPI_SUCCESS) {
            FULT_BELOW(Cancel)(&receive);
            FULT_BELOW(Request_free)(&receive);
            return code;
        }
        add(receive, status_);
        add(send, MPI_STATUS_IGNORE);
        return MPI_SUCCESS;
    }

  private:
    MPI_Status *status_;
    Receive receive_;
    Send send_;
};
template <class Receive, class Send>
int run_exchange(const call_facts &facts, MPI_Status *status, Receive receive, Send send) noexcept {
    exchange<Receive, Send> op(facts, status, receive, send);
    const int code = the_engine().run(op);
    if (code != MPI_SUCCESS || facts.peer != MPI_PROC_NULL)
        return code;
    // the nonblocking form of MPICH 4.0 does not store this status
    return call_locked(
        [&] { return FULT_BELOW(Recv)(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, facts.tag, facts.comm, status); });
}

call_facts facts_of(const char *name, int source, int tag, MPI_Comm comm) noexcept {
    return {.name = name,
            .relation = "from rank",
            .peer = source,
            .has_tag = true,
            .tag = tag,
            .has_comm = true,
            .comm = comm};
}

// What MPI_Sendrecv_replace sends, apart from the buffer that it receives into. Packed data matches any type.
class packed_copy {
  public:
    packed_copy(const void *buffer, int count, MPI_Datatype type, MPI_Comm comm) noexcept {
        const engine::entry here(the_engine());
        int room = 0;
        error_ = FULT_BELOW(Pack_size)(count, type, comm, &room);
        if (error_ != MPI_SUCCESS)
            return;
        bytes_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(room)]);
        if (bytes_) {
            error_ = FULT_BELOW(Pack)(buffer, count, type, bytes_.get(), room, &size_, comm);
        } else {
            error_ = MPI_ERR_NO_MEM;
            FULT_BELOW(Comm_call_errhandler)(comm, error_);
        }
    }
    int error() const noexcept { return error_; }
    const void *bytes() const noexcept { return bytes_.get(); }
    int size() const noexcept { return size_; }

  private:
    std::unique_ptr<std::byte[]> bytes_;
    int size_ = 0;
    int error_ = MPI_SUCCESS;
};

template <class Receive>
int replace(const call_facts &facts, const packed_copy &copy, int dest, int tag, MPI_Status *status,
            Receive receive) noexcept {
    if (copy.error() != MPI_SUCCESS)
        return copy.error();
    return run_exchange(facts, status, receive, [&, dest, tag](MPI_Request *request) {
        return FULT_BELOW(Isend)(copy.bytes(), copy.size(), MPI_PACKED, dest, tag, facts.comm, request);
    });
}

} // namespace

int Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
             int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
             MPI_Status *status) {
    return run_exchange(
        facts_of("MPI_Sendrecv", source, recvtag, comm), status,
        [=](MPI_Request *r) {
            return FULT_BELOW(Irecv)(recvbuf, recvcount, recvtype, source, recvtag, comm, r);
        },
        [=](MPI_Request *r) {
            return FULT_BELOW(Isend)(sendbuf, sendcount, sendtype, dest, sendtag, comm, r);
        });
}

int Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                     int recvtag, MPI_Comm comm, MPI_Status *status) {
    const packed_copy copy(buf, count, datatype, comm);
    return replace(
        facts_of("MPI_Sendrecv_replace", source, recvtag, comm), copy, dest, sendtag, status,
        [=](MPI_Request *r) { return FULT_BELOW(Irecv)(buf, count, datatype, source, recvtag, comm, r); });
}

int Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
    return run_by_testing(facts_of("MPI_Probe", source, tag, comm),
                          [=](int *flag) { return FULT_BELOW(Iprobe)(source, tag, comm, flag, status); });
}

int Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    return run_by_testing(facts_of("MPI_Mprobe", source, tag, comm), [=](int *flag) {
        return FULT_BELOW(Improbe)(source, tag, comm, flag, message, status);
    });
}

#if MPI_VERSION >= 4
int Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
               void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
               MPI_Comm comm, MPI_Status *status) {
    return run_exchange(
        facts_of("MPI_Sendrecv_c", source, recvtag, comm), status,
        [=](MPI_Request *r) {
            return FULT_BELOW(Irecv_c)(recvbuf, recvcount, recvtype, source, recvtag, comm, r);
        },
        [=](MPI_Request *r) {
            return FULT_BELOW(Isend_c)(sendbuf, sendcount, sendtype, dest, sendtag, comm, r);
        });
}
#endif

} // namespace fult::mpi::own
