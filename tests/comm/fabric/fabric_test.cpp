// The fabric transport: with transport_test.cpp, over each available provider.
#include <cerrno>
#include <cstdio>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string_view>

#include "tests/comm/fabric/ranks.hpp"
#include "tests/support/scale.hpp"

#if !defined(FULT_TEST_SANITIZED)
// In place of libc's, for libfabric: each process that begins with it looks twice for a module of InfiniBand
// among the 200,000 symbols of the kernel, which would be most of the work of this test.
extern "C" FILE *open_but_for_symbols(const char *path, const char *mode) __asm__("fopen");
extern "C" FILE *open_but_for_symbols(const char *path, const char *mode) {
    using function = FILE *(*)(const char *, const char *);
    static const auto real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "fopen"));
    if (path == std::string_view("/proc/kallsyms")) {
        errno = ENOENT;
        return nullptr;
    }
    return real(path, mode);
}
#endif

namespace fabric_ranks {

namespace {

// Reliable datagrams over TCP are "net" in some releases of libfabric and "tcp" in later ones, where that
// name meant "tcp;ofi_rxm" before. Queried in a separate process, so that no test begins with libfabric
// already in use.
const char *datagrams_over_tcp() {
    const pid_t child = fork();
    require(child >= 0, "fork");
    if (child == 0) {
        try {
            fabric_settings settings;
            settings.provider = "tcp";
            settings.interface = "127.0.0.1";
            settings.name = job();
            _exit(open_fabric(settings)->name() == settings.provider ? 0 : 1);
        } catch (const std::exception &) {
            _exit(1);
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "tcp" : "net";
}

} // namespace

std::vector<way> ways() {
    static const char *const native = datagrams_over_tcp();
    if (fult::testing::sanitized) // each of the others takes minutes there
        return {{"shm", "shm", reach::same_host, true, open_fabric},
                {"net", native, reach::network, true, open_fabric}};
    return {{"shm", "shm", reach::same_host, true, open_fabric},
            {"shm_copies", "shm", reach::same_host, false, open_fabric},
            {"net", native, reach::network, true, open_fabric},
            {"tcp_rxm", "tcp;ofi_rxm", reach::network, true, open_fabric}};
}

} // namespace fabric_ranks

namespace {

using namespace fabric_ranks;

TEST(fabric_settings_test, says_what_there_is_where_nothing_fits) {
    for (const int status : fork_ranks(1, {"none", "", reach::network, true, open_fabric}, [](board &, int) {
             fabric_settings settings;
             settings.provider = "no_such_network";
             settings.interface = "no_such_interface";
             try {
                 open_fabric(settings);
             } catch (const std::runtime_error &e) {
                 const std::string text = e.what();
                 for (const char *part : {"no_such_network", "no_such_interface", "Here are: ", "fi_info"})
                     require(text.find(part) != std::string::npos, text + " lacks " + part);
                 return;
             }
             throw std::runtime_error("no exception");
         }))
        EXPECT_EQ(status, 0);
}

// A datagram from anywhere ends a program that uses them.
TEST(fabric_settings_test, unsafe_datagrams_are_used_by_name_only) {
    for (const int status : fork_ranks(1, {"none", "", reach::network, true, open_fabric}, [](board &, int) {
             setenv("FI_PROVIDER", "udp;ofi_rxd", 1); // nothing else is there
             fabric_settings settings;
             settings.interface = "127.0.0.1";
             settings.provider = "udp;ofi_rxd";
             std::string there;
             try {
                 there = open_fabric(settings)->name();
             } catch (const std::runtime_error &) {
                 return; // nor is this
             }
             settings.provider = "";
             for (const char *interface : {"127.0.0.1", ""}) {
                 settings.interface = interface;
                 try {
                     there = open_fabric(settings)->name();
                 } catch (const std::runtime_error &e) {
                     require(std::string(e.what()).find("no provider") != std::string::npos, e.what());
                     continue;
                 }
                 throw std::runtime_error(there + " was chosen");
             }
         }))
        EXPECT_EQ(status, 0);
}

TEST(fabric_settings_test, ranks_with_different_providers_get_an_error) {
    for (const int status :
         fork_ranks(1, {"none", "", reach::same_host, true, open_fabric}, [](board &, int) {
             fabric_settings settings;
             settings.scope = reach::same_host;
             settings.name = job();
             settings.rank = 1;
             const auto net = open_fabric(settings);
             const std::vector<std::string> all = {"6e6f706500616263", net->address()}; // "nope", "abc"
             try {
                 net->connect(all);
             } catch (const std::runtime_error &e) {
                 const std::string text = e.what();
                 require(text.find("'nope'") != std::string::npos && text.find("rank 0") != std::string::npos,
                         text);
                 return;
             }
             throw std::runtime_error("no exception");
         }))
        EXPECT_EQ(status, 0);
}

} // namespace
