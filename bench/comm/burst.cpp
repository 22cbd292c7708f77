// N messages at once from one rank to the other, then N back: all with one tag and received in order (burst),
// or each with a tag of its own and received in random order (shuffle). Nanoseconds a message. The pattern of
// the MadMPI benchmarks, as Denis describes them (Scalability of the NewMadeleine communication library,
// 2019), with 8 bytes for their one.
#include <numeric>
#include <random>

#include "comm/connection.hpp"

namespace {
using namespace bench;

struct burst {
    burst(unsigned long n, bool shuffled) : words(n), all(n), order(n), one_tag(!shuffled) {
        std::iota(order.begin(), order.end(), 0U);
        if (shuffled)
            std::shuffle(order.begin(), order.end(), std::mt19937(12345));
    }

    unsigned tag(unsigned k) const { return one_tag ? 1 : k + 1; }

    void send(connection &here, unsigned long round) {
        for (unsigned k = 0; k < all.size(); ++k) {
            words[k] = round + k;
            all[k] = here.isend(&words[k], sizeof words[k], tag(k));
        }
        connection::wait_all(all);
    }

    void receive(connection &here, unsigned long round) {
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = here.irecv(&words[order[i]], sizeof words[0], tag(order[i]));
        connection::wait_all(all);
        for (unsigned k = 0; k < all.size(); ++k)
            if (words[k] != round + k)
                wrong("message " + std::to_string(k) + " of a burst says " + std::to_string(words[k]));
    }

    void play(connection &here, unsigned long rounds) {
        for (unsigned long i = 0; i < rounds; ++i)
            if (here.rank() == 0) {
                send(here, i);
                receive(here, i);
            } else {
                receive(here, i);
                send(here, i);
            }
    }

    std::vector<std::uint64_t> words;
    std::vector<connection::request> all;
    std::vector<unsigned> order;
    bool one_tag;
};
} // namespace

int main(int argc, char **argv) {
    unsigned long one = 0, most = 262'144;
    double longest = 0;
    bool shuffled = false, wildcards = false;
    patience wanted;
    wanted.repetitions = 1;
    arguments line("comm_burst, comm_shuffle: N messages at once, then N back; nanoseconds per message.");
    line.option("-n,--messages", one, "number of messages; 0: 1, 4, 16 ... to --most");
    line.option("--most", most, "the largest N");
    line.option("--longest", longest,
                "end after the first N that took this many seconds per round; 0: never");
    line.option("--shuffle", shuffled, "each message has its own tag; they are received in random order");
    line.option("--wildcards", wildcards, "receives accept messages of any source");
    wanted.declare(line);
    line.parse(argc, argv);
    connection here(false);
    if (wildcards)
        here.use_wildcards();
    for (unsigned long n = one ? one : 1; n <= (one ? one : most); n *= 4) {
        burst these(n, shuffled);
        const double round =
            seconds_a_round(here, wanted, [&](unsigned long rounds) { these.play(here, rounds); });
        if (here.rank() == 0)
            report({shuffled ? "comm_shuffle" : "comm_burst",
                    std::to_string(n) + (wildcards ? ", wildcards" : ""), connection::version,
                    connection::workers(), round * 1e9 / 2 / double(n), "ns"});
        if (here.agree(longest > 0 && round > longest))
            break;
    }
}
