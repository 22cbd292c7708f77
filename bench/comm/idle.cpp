// Two ranks whose tasks all wait for a message that comes late: processor time of each over a second, in
// percent of one core, after a tenth of a second. The busier rank counts.
#include <chrono>
#include <thread>

#include "comm/connection.hpp"
#include "common/processor_time.hpp"

int main(int argc, char **argv) {
    using namespace bench;
    using namespace std::chrono_literals;
    arguments line("comm_idle: processor time of two ranks that wait for messages, percent of a core.");
    line.parse(argc, argv);
    connection here(true);
    double percent = 0, other = 0;
    std::uint64_t word = 0;
    here.agree(0); // both are here, and have communicated
    // From outside the tasks, as a message from elsewhere would come.
    std::thread observer([&] {
        std::this_thread::sleep_for(100ms);
        const double used = processor_seconds(), before = now();
        std::this_thread::sleep_for(1s);
        percent = 100 * (processor_seconds() - used) / (now() - before);
        std::this_thread::sleep_for(100ms); // the other rank measures still
        const std::uint64_t over = 1;
        here.send(&over, sizeof over, 1);
    });
    here.recv(&word, sizeof word, 1);
    observer.join();
    if (word != 1)
        wrong("the message that ends the waiting");
    if (here.rank() == 0) {
        here.recv(&other, sizeof other, 2);
        report({"comm_idle", "waiting for a message", connection::version, connection::workers(),
                std::max(percent, other), "% of a core"});
    } else {
        here.send(&percent, sizeof percent, 2);
    }
}
