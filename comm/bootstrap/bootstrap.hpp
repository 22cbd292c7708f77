#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// How the ranks of a job find each other: who am I, how many are we, and a small exchange of addresses.
// Whoever started the program answers; afterwards the ranks talk over the network, and the bootstrap is
// needed again only to end.
namespace fult::comm::detail {

// The launcher did not answer as it should, or a peer did not come in time. The text names the thing and the
// remedy.
class bootstrap_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// How long one collective call waits for the slowest rank.
constexpr std::chrono::milliseconds bootstrap_timeout{60'000};

// Not more than this in one rank's contribution to an exchange, in bytes.
constexpr std::size_t bootstrap_most = 64 * 1024;

// A connection to the launcher. One thread at a time may use it. Every call blocks the calling kernel thread,
// a task's worker therefore: call it before and after the work, not in between.
class bootstrap {
  public:
    bootstrap(const bootstrap &) = delete;
    bootstrap &operator=(const bootstrap &) = delete;
    // Takes leave of the launcher; collective for none of the launchers.
    virtual ~bootstrap();

    // "PMIx", "PMI-1", "fult-run" or "one rank".
    virtual const char *name() const noexcept = 0;

    // A socket that hangs up when the launcher ends, so that its ranks can end too; -1: there is none.
    virtual int launcher() const noexcept { return -1; }

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }

    // Each rank gives some bytes (any values, also none, at most bootstrap_most) and gets those of all, by
    // rank. All ranks must call it. Throws bootstrap_error: a rank has ended or did not come within the
    // timeout. After an error the connection is of no more use than for abort().
    virtual std::vector<std::string> exchange(std::string_view mine) = 0;

    // Returns when all ranks have called it. Throws as exchange does.
    virtual void barrier() = 0;

    // Ends all ranks, this one included: it does not return. The launcher's status becomes `status` (1 if
    // that is 0) where the launcher can do so; `why` is shown on the standard error stream.
    virtual void abort(int status, std::string_view why) noexcept = 0;

  protected:
    bootstrap(int rank, int size) noexcept : rank_(rank), size_(size) {}

  private:
    int rank_;
    int size_;
};

// PMIx where PMIX_NAMESPACE is set, else PMI-1 where PMI_FD is set, else fult-run where FULT_RUN_FD is set,
// else one rank. `timeout` bounds each wait for other ranks. Throws bootstrap_error.
std::unique_ptr<bootstrap> connect_bootstrap(std::chrono::milliseconds timeout = bootstrap_timeout);

// Each of the four by itself; they read their environment variables. Throw bootstrap_error.
std::unique_ptr<bootstrap> connect_pmix(std::chrono::milliseconds timeout);
std::unique_ptr<bootstrap> connect_pmi1(std::chrono::milliseconds timeout);
std::unique_ptr<bootstrap> connect_fult_run(std::chrono::milliseconds timeout);
std::unique_ptr<bootstrap> connect_one_rank();

} // namespace fult::comm::detail
