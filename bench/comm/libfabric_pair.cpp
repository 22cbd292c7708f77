#include "comm/libfabric_pair.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/raw_threads.hpp"

namespace bench {
namespace {

[[noreturn]] void give_up(const std::string &what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    std::_Exit(1);
}

void must(long result, const char *call) {
    if (result < 0)
        give_up(std::string(call) + ": " + fi_strerror(int(-result)));
}

template <class Object> struct closed {
    closed() = default;
    ~closed() {
        if (object)
            fi_close(&object->fid);
    }
    closed(const closed &) = delete;
    closed &operator=(const closed &) = delete;
    Object *object = nullptr;
};

void stay_on(int processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
}

void write_all(int fd, const void *data, std::size_t size) {
    if (::write(fd, data, size) != ssize_t(size))
        give_up("the other process has ended");
}

void read_all(int fd, void *data, std::size_t size) {
    if (::recv(fd, data, size, MSG_WAITALL) != ssize_t(size))
        give_up("the other process has ended");
}
} // namespace

struct libfabric_pair::state {
    int rank = 0;
    pid_t child = -1;
    int socket = -1;
    fi_info *info = nullptr;
    closed<fid_fabric> fabric;
    closed<fid_domain> domain;
    closed<fid_av> addresses;
    closed<fid_cq> queue;
    closed<fid_ep> endpoint; // goes first
    fi_addr_t other = FI_ADDR_UNSPEC;
    unsigned long received = 0, sent = 0;

    void split() {
        const auto processors = usable_processors();
        if (processors.size() < 2)
            give_up("two processors are needed");
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
            give_up("socketpair: " + std::string(std::strerror(errno)));
        child = ::fork();
        if (child < 0)
            give_up("fork: " + std::string(std::strerror(errno)));
        rank = child == 0 ? 1 : 0;
        if (rank == 1)
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        socket = ends[rank];
        ::close(ends[1 - rank]);
        stay_on(processors[std::size_t(rank)]);
    }

    void open(const std::string &provider) {
        fi_info *hints = fi_allocinfo();
        hints->ep_attr->type = FI_EP_RDM;
        hints->caps = FI_MSG;
        hints->mode = 0;
        hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
        hints->domain_attr->threading = FI_THREAD_DOMAIN;
        hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
        hints->fabric_attr->prov_name = ::strdup(provider.c_str());
        const int found = fi_getinfo(FI_VERSION(1, 9), nullptr, nullptr, 0, hints, &info);
        fi_freeinfo(hints);
        if (found != 0)
            give_up("libfabric has no provider '" + provider + "' with reliable datagrams here");
        must(fi_fabric(info->fabric_attr, &fabric.object, nullptr), "fi_fabric");
        must(fi_domain(fabric.object, info, &domain.object, nullptr), "fi_domain");
        fi_av_attr av{};
        av.type = info->domain_attr->av_type;
        must(fi_av_open(domain.object, &av, &addresses.object, nullptr), "fi_av_open");
        fi_cq_attr cq{};
        cq.format = FI_CQ_FORMAT_CONTEXT;
        cq.wait_obj = FI_WAIT_NONE;
        cq.size = info->tx_attr->size + info->rx_attr->size;
        must(fi_cq_open(domain.object, &cq, &queue.object, nullptr), "fi_cq_open");
        must(fi_endpoint(domain.object, info, &endpoint.object, nullptr), "fi_endpoint");
        must(fi_ep_bind(endpoint.object, &addresses.object->fid, 0), "fi_ep_bind");
        must(fi_ep_bind(endpoint.object, &queue.object->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
        must(fi_enable(endpoint.object), "fi_enable");
    }

    void connect() {
        std::array<char, 512> mine{}, theirs{};
        std::size_t size = mine.size();
        must(fi_getname(&endpoint.object->fid, mine.data(), &size), "fi_getname");
        write_all(socket, mine.data(), mine.size());
        read_all(socket, theirs.data(), theirs.size());
        if (fi_av_insert(addresses.object, theirs.data(), 1, &other, 0, nullptr) != 1)
            give_up("fi_av_insert did not take the other process's address");
    }

    void poll() {
        std::array<fi_cq_entry, 16> done;
        const ssize_t count = fi_cq_read(queue.object, done.data(), done.size());
        for (ssize_t i = 0; i < count; ++i)
            ++*static_cast<unsigned long *>(done[std::size_t(i)].op_context);
        if (count < 0 && count != -FI_EAGAIN)
            must(count, "fi_cq_read");
    }

    template <class Call> void insist(const char *name, Call call) {
        for (;;) {
            const ssize_t result = call();
            if (result == 0)
                return;
            if (result != -FI_EAGAIN)
                must(result, name);
            poll();
        }
    }
};

libfabric_pair::libfabric_pair(const std::string &provider) : state_(new state) {
    state_->split(); // first: libfabric may start threads
    state_->open(provider);
    state_->connect();
    agree(0);
}

libfabric_pair::~libfabric_pair() {
    char word = 0; // neither goes before the other is done
    write_all(state_->socket, &word, 1);
    read_all(state_->socket, &word, 1);
    const pid_t child = state_->child;
    fi_freeinfo(state_->info);
    state_.reset();
    int status = 0;
    if (child > 0 && (::waitpid(child, &status, 0) != child || status != 0))
        give_up("the other process failed");
}

int libfabric_pair::rank() const noexcept { return state_->rank; }
unsigned long libfabric_pair::received() const noexcept { return state_->received; }
unsigned long libfabric_pair::sent() const noexcept { return state_->sent; }
void libfabric_pair::poll() { state_->poll(); }

void libfabric_pair::post(void *data, std::size_t size) {
    state &s = *state_;
    s.insist("fi_recv",
             [&] { return fi_recv(s.endpoint.object, data, size, nullptr, FI_ADDR_UNSPEC, &s.received); });
}

void libfabric_pair::send(const void *data, std::size_t size) {
    state &s = *state_;
    if (size <= s.info->tx_attr->inject_size) {
        s.insist("fi_inject", [&] { return fi_inject(s.endpoint.object, data, size, s.other); });
        ++s.sent;
    } else {
        s.insist("fi_send",
                 [&] { return fi_send(s.endpoint.object, data, size, nullptr, s.other, &s.sent); });
    }
}

unsigned long libfabric_pair::agree(unsigned long value) {
    state &s = *state_;
    if (s.rank == 0) {
        write_all(s.socket, &value, sizeof value);
        read_all(s.socket, &value, sizeof value); // the other one is here too
    } else {
        read_all(s.socket, &value, sizeof value);
        write_all(s.socket, &value, sizeof value);
    }
    return value;
}

} // namespace bench
