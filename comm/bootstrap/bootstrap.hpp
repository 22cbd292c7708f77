#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// The bootstrap: this rank, the number of ranks, and a small exchange of addresses, all provided by the
// launcher. Afterwards the ranks communicate over the network, and the bootstrap is needed again only to end.
namespace fult::comm::detail {

// The launcher did not answer as expected, or a rank did not arrive in time. The text names the cause and the
// remedy.
class bootstrap_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A rank did not arrive in time, and none is known to have ended.
class late_rank : public bootstrap_error {
  public:
    using bootstrap_error::bootstrap_error;
};

// Limit on waiting for the slowest rank in a collective call.
constexpr std::chrono::milliseconds bootstrap_timeout{60'000};

// Maximum size of one rank's contribution to an exchange, in bytes.
constexpr std::size_t max_contribution = 64 * 1024;

// A connection to the launcher. For one thread at a time. Every call blocks the calling kernel thread, and so
// the worker that runs the task: call it only before and after the work.
class bootstrap {
  public:
    bootstrap(const bootstrap &) = delete;
    bootstrap &operator=(const bootstrap &) = delete;
    // Leaves the job; collective for none of the launchers.
    virtual ~bootstrap();

    // "PMIx", "PMI-1", "fult-run" or "one rank".
    virtual const char *name() const noexcept = 0;

    // A socket that hangs up when the launcher ends, so that its ranks can end too; -1: none.
    virtual int launcher() const noexcept { return -1; }

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }

    // Each rank contributes some bytes (any values, possibly none, at most max_contribution) and receives
    // those of all, by rank. All ranks must call it. Throws bootstrap_error: a rank has ended or did not
    // arrive within the timeout. After an error the connection can only be used for abort().
    virtual std::vector<std::string> exchange(std::string_view contribution) = 0;

    // Returns when all ranks have called it. Throws as exchange does.
    virtual void barrier() = 0;

    // Ends all ranks, including this one; does not return. The launcher's status becomes `status` (1 if that
    // is 0) if the launcher supports it; `reason` is written to standard error.
    virtual void abort(int status, std::string_view reason) noexcept = 0;

  protected:
    bootstrap(int rank, int size) noexcept : rank_(rank), size_(size) {}

  private:
    int rank_;
    int size_;
};

// PMIx if PMIX_NAMESPACE is set, else PMI-1 if PMI_FD is set, else fult-run if FULT_RUN_FD is set, else one
// rank. `timeout` bounds each wait for other ranks. Throws bootstrap_error, or std::runtime_error if the PMIx
// library does not load, or is too old.
std::unique_ptr<bootstrap> connect_bootstrap(std::chrono::milliseconds timeout = bootstrap_timeout);

// The number of ranks by the same environment variables. 1 without a launcher; 0: they do not show it.
int ranks_by_launcher() noexcept;

// The individual bootstraps; they read their environment variables. Throw as connect_bootstrap does.
std::unique_ptr<bootstrap> connect_pmix(std::chrono::milliseconds timeout);
std::unique_ptr<bootstrap> connect_pmi1(std::chrono::milliseconds timeout);
std::unique_ptr<bootstrap> connect_fult_run(std::chrono::milliseconds timeout);
std::unique_ptr<bootstrap> connect_one_rank();

} // namespace fult::comm::detail
