// n tasks a rank, paired by tag, each pair a blocking ping-pong of 8 bytes; or one task a rank with a window
// of messages that are not waited for one by one (the pattern of osu_mbw_mr). Million messages a second, both
// directions.
#include "comm/connection.hpp"

namespace {
using namespace bench;

void pair(connection &here, unsigned tag, unsigned long rounds) {
    std::uint64_t word = 0;
    for (unsigned long i = 0; i < rounds; ++i) {
        const std::uint64_t question = (std::uint64_t{tag} << 32) + i;
        if (here.rank() == 0) {
            here.send(&question, sizeof question, tag);
            here.recv(&word, sizeof word, tag);
            if (word != ~question)
                wrong("the answer to message " + std::to_string(i) + " of pair " + std::to_string(tag));
        } else {
            here.recv(&word, sizeof word, tag);
            if (word != question)
                wrong("message " + std::to_string(i) + " of pair " + std::to_string(tag));
            word = ~question;
            here.send(&word, sizeof word, tag);
        }
    }
}

struct window {
    explicit window(unsigned long size) : words(size), all(size) {}

    void play(connection &here, unsigned long rounds) {
        for (unsigned long i = 0; i < rounds; ++i) {
            std::uint64_t done = i;
            if (here.rank() == 0) {
                for (std::size_t k = 0; k < all.size(); ++k) {
                    words[k] = i + k;
                    all[k] = here.isend(&words[k], sizeof words[k], 1);
                }
                connection::wait_all(all);
                here.recv(&done, sizeof done, 2);
                if (done != i)
                    wrong("the word after a window");
            } else {
                for (std::size_t k = 0; k < all.size(); ++k)
                    all[k] = here.irecv(&words[k], sizeof words[k], 1);
                connection::wait_all(all);
                for (std::size_t k = 0; k < all.size(); ++k)
                    if (words[k] != i + k)
                        wrong("message " + std::to_string(k) + " of a window");
                here.send(&done, sizeof done, 2);
            }
        }
    }

    std::vector<std::uint64_t> words;
    std::vector<connection::request> all;
};
} // namespace

int main(int argc, char **argv) {
    unsigned long tasks = 1, messages = 0;
    patience wanted;
    wanted.fewest = 10; // starting the tasks is a small part then
    arguments line("comm_rate: 8-byte messages between two ranks, million per second.");
    line.option("-n,--tasks", tasks, "tasks per rank; each exchanges messages with its partner, blocking");
    line.option("--window", messages, "instead: one task, this many messages at once without blocking");
    line.option("--fewest", wanted.fewest, "minimum number of round trips of a pair");
    wanted.declare(line);
    line.parse(argc, argv);
    if (tasks == 0 || tasks > 1'000'000 || wanted.fewest == 0)
        arguments::fail("1 to 1000000 tasks, and one round trip at least");
    connection here(tasks > 1);
    double round = 0, per_round = 0;
    std::string name;
    if (messages) {
        window w(messages);
        round = seconds_a_round(here, wanted, [&](unsigned long rounds) { w.play(here, rounds); });
        per_round = double(messages);
        name = "window of " + std::to_string(messages);
    } else {
        round = seconds_a_round(here, wanted, [&](unsigned long rounds) {
            here.tasks(tasks, [&here, rounds](unsigned long k) { pair(here, unsigned(k) + 1, rounds); });
        });
        per_round = 2 * double(tasks);
        name = "n = " + std::to_string(tasks);
    }
    if (here.rank() == 0)
        report({"comm_rate", name, connection::version, connection::workers(), per_round / round / 1e6,
                "Mmsg/s"});
}
