// comm_latency by libfabric alone. The memory for the next message is posted before the answer goes out.
#include "comm/libfabric_pair.hpp"
#include "comm/ranks.hpp"

namespace {
using namespace bench;

// Two buffers for received messages: one is read while the other is posted.
class ping_pong {
  public:
    ping_pong(libfabric_pair &pair, std::size_t size)
        : pair_(pair), out_(size), in_{std::vector<std::byte>(size), std::vector<std::byte>(size)} {}

    void play(unsigned long rounds) {
        post();
        for (unsigned long i = 0; i < rounds; ++i) {
            const bool more = i + 1 < rounds;
            if (pair_.rank() == 0) {
                stamp(out_, i);
                send();
                check(next(more), ~i);
            } else {
                check(next(more), i);
                stamp(out_, ~i);
                send();
            }
        }
    }

  private:
    void post() { pair_.post(in_[posted_++ % 2].data(), out_.size()); }

    const std::vector<std::byte> &next(bool more) {
        while (pair_.received() == taken_)
            pair_.poll();
        ++taken_;
        const auto &here = in_[(posted_ - 1) % 2];
        if (more)
            post();
        return here;
    }

    void send() {
        pair_.send(out_.data(), out_.size());
        ++given_;
        while (pair_.sent() < given_)
            pair_.poll();
    }

    libfabric_pair &pair_;
    std::vector<std::byte> out_, in_[2];
    unsigned long posted_ = 0;
    unsigned long taken_ = pair_.received();
    unsigned long given_ = pair_.sent();
};
} // namespace

int main(int argc, char **argv) {
    unsigned long one = 0;
    std::string provider = "shm";
    patience wanted;
    arguments line("comm_latency: the same by libfabric alone, between this process and one that it starts.");
    line.option("--size", one, "bytes of a message; 0: 8 to 4 MiB");
    line.option("--provider", provider, "provider, as fi_info names it");
    wanted.declare(line);
    line.parse(argc, argv);
    const auto sizes = sizes_or(one, latency_sizes);
    libfabric_pair pair(provider);
    for (const unsigned long size : sizes) {
        ping_pong game(pair, size);
        const double round = seconds_a_round(pair, wanted, [&](unsigned long rounds) { game.play(rounds); });
        if (pair.rank() == 0)
            report({"comm_latency", size_text(size), "libfabric", 1, round * 1e6 / 2, "us"});
    }
}
