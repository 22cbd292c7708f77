// comm_bandwidth by libfabric alone: windows of 64 messages into posted memory, then a word back.
#include "comm/libfabric_pair.hpp"
#include "comm/ranks.hpp"

namespace {
using namespace bench;

class windows {
  public:
    windows(libfabric_pair &pair, std::size_t size, unsigned long window)
        : pair_(pair), bytes_(size), window_(window) {}

    void play(unsigned long rounds) {
        for (unsigned long i = 0; i < rounds; ++i) {
            std::uint64_t word = i;
            if (pair_.rank() == 0) {
                stamp(bytes_, i);
                pair_.post(&word, sizeof word);
                send(bytes_.data(), bytes_.size(), window_);
                receive(1);
                if (word != i)
                    wrong("the word after a window");
            } else {
                for (unsigned long k = 0; k < window_; ++k)
                    pair_.post(bytes_.data(), bytes_.size());
                receive(window_);
                check(bytes_, i);
                send(&word, sizeof word, 1);
            }
        }
    }

  private:
    void send(const void *data, std::size_t size, unsigned long times) {
        given_ += times;
        for (unsigned long k = 0; k < times; ++k)
            pair_.send(data, size);
        while (pair_.sent() < given_)
            pair_.poll();
    }

    void receive(unsigned long messages) {
        taken_ += messages;
        while (pair_.received() < taken_)
            pair_.poll();
    }

    libfabric_pair &pair_;
    std::vector<std::byte> bytes_;
    unsigned long window_;
    unsigned long taken_ = pair_.received();
    unsigned long given_ = pair_.sent();
};
} // namespace

int main(int argc, char **argv) {
    unsigned long one = 0, window = 64;
    std::string provider = "shm";
    patience wanted;
    arguments line(
        "comm_bandwidth: the same by libfabric alone, between this process and one that it starts.");
    line.option("--size", one, "bytes of a message; 0: 64 KiB to 4 MiB");
    line.option("--window", window, "messages under way at once");
    line.option("--provider", provider, "provider, as fi_info names it");
    wanted.declare(line);
    line.parse(argc, argv);
    const auto sizes = sizes_or(one, bandwidth_sizes);
    if (window == 0)
        arguments::fail("a window has one message at least");
    libfabric_pair pair(provider);
    for (const unsigned long size : sizes) {
        windows game(pair, size, window);
        const double round = seconds_a_round(pair, wanted, [&](unsigned long rounds) { game.play(rounds); });
        if (pair.rank() == 0)
            report({"comm_bandwidth", size_text(size), "libfabric", 1,
                    double(window) * double(size) / round / 1e6, "MB/s"});
    }
}
