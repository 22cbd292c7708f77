// FULT: a rank is a process that fult-run started, with a worker on each of its processors.
#pragma once

#include <span>
#include <vector>

#include <fult/comm.hpp>

#include "comm/ranks.hpp"

namespace bench {

class connection {
  public:
    using request = fult::comm::request;
    static constexpr const char *version = "fult";

    explicit connection(bool /*threads*/) {
        if (net_.size() != 2) {
            std::fprintf(stderr, "two ranks are needed: fult-run -n 2 program\n");
            std::exit(2);
        }
    }

    int rank() const noexcept { return net_.rank(); }
    static unsigned workers() noexcept { return static_cast<unsigned>(fult::worker_count()); }
    fult::comm::endpoint &world() noexcept { return net_.world(); }
    const char *route() const { return net_.route_to(other_); }

    void send(const void *data, std::size_t size, unsigned tag) { here_->send(data, size, other_, tag); }
    void recv(void *data, std::size_t size, unsigned tag) {
        if (here_->recv(data, size, source_, tag).size != size)
            wrong("a message of another length");
    }
    request isend(const void *data, std::size_t size, unsigned tag) {
        return here_->isend(data, size, other_, tag);
    }
    request irecv(void *data, std::size_t size, unsigned tag) {
        return here_->irecv(data, size, source_, tag);
    }
    static void wait_all(std::span<request> all) { fult::comm::wait_all(all); }

    void use_wildcards() {
        any_ = net_.make_endpoint({.wildcards = true});
        here_ = &any_;
        source_ = fult::comm::any_source;
    }

    template <class Function> void tasks(unsigned long n, Function function) {
        std::vector<decltype(fult::spawn(function, 0UL))> all(n);
        for (unsigned long k = 0; k < n; ++k)
            all[k] = fult::spawn(function, k);
        fult::join_all(all);
    }

    unsigned long agree(unsigned long value) {
        constexpr unsigned tag = 0xfffffff0;
        if (rank() == 0)
            net_.world().send(value, 1, tag);
        else
            net_.world().recv(value, 0, tag);
        return value;
    }

  private:
    fult::runtime runtime_;
    fult::comm::context net_;
    int other_ = 1 - net_.rank();
    int source_ = other_;
    fult::comm::endpoint any_;
    fult::comm::endpoint *here_ = &net_.world();
};

} // namespace bench
