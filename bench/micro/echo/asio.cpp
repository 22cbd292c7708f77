// Boost.Asio: a context that as many threads run, and a chain of handlers a connection.
#define BOOST_ASIO_NO_DEPRECATED 1
#include <memory>
#include <thread>
#include <utility> // before it: this Boost forgets it

#include <boost/asio.hpp>

#include "echo.hpp"

namespace {
using boost::asio::ip::tcp;

class session : public std::enable_shared_from_this<session> {
  public:
    explicit session(tcp::socket socket) : socket_(std::move(socket)) {
        socket_.set_option(tcp::no_delay(true));
    }
    void read() {
        socket_.async_read_some(
            boost::asio::buffer(data_),
            [self = shared_from_this()](boost::system::error_code error, std::size_t count) {
                if (!error)
                    self->write(count);
            });
    }

  private:
    void write(std::size_t count) {
        boost::asio::async_write(socket_, boost::asio::buffer(data_, count),
                                 [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                                     if (!error)
                                         self->read();
                                 });
    }
    tcp::socket socket_;
    char data_[1024];
};

void accept(tcp::acceptor &acceptor, unsigned left) {
    acceptor.async_accept([&acceptor, left](boost::system::error_code error, tcp::socket socket) {
        if (error)
            return;
        std::make_shared<session>(std::move(socket))->read();
        if (left > 1)
            accept(acceptor, left - 1);
    });
}
} // namespace

int main(int argc, char **argv) {
    return bench::echo::main(argc, argv, "asio", [](unsigned workers, unsigned connections, int listener) {
        boost::asio::io_context context(static_cast<int>(workers));
        tcp::acceptor acceptor(context, tcp::v4(), ::dup(listener));
        accept(acceptor, connections);
        std::vector<std::thread> threads;
        for (unsigned t = 1; t < workers; ++t)
            threads.emplace_back([&] { context.run(); });
        context.run();
        for (std::thread &each : threads)
            each.join();
    });
}
