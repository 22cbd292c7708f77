// Two processes and libfabric between them, nothing else: reliable datagrams, one endpoint and one completion
// queue each, one thread that polls. The reference of everything that goes through libfabric.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace bench {

class libfabric_pair {
  public:
    // Starts the other process; both return from here, each on a processor of its own. The provider is one
    // that fi_info knows: "shm", "net". Ends the program if it is missing.
    explicit libfabric_pair(const std::string &provider);
    // The first process waits for the second one, and ends with status 1 if that did not end well.
    ~libfabric_pair();
    libfabric_pair(const libfabric_pair &) = delete;
    libfabric_pair &operator=(const libfabric_pair &) = delete;

    int rank() const noexcept;

    // Memory for one message; they are filled in the order in which they were posted.
    void post(void *data, std::size_t size);
    // Injected if the provider accepts that size, else the data are in use until sent() has counted
    // it.
    void send(const void *data, std::size_t size);

    unsigned long received() const noexcept; // messages so far
    unsigned long sent() const noexcept;     // that were sent or injected
    void poll();

    // The first process's value, on both; not by libfabric.
    unsigned long agree(unsigned long value);

  private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace bench
