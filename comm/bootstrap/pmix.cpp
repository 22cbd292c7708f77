#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "comm/base/loaded_library.hpp"
#include "comm/bootstrap/bootstrap.hpp"
#include "comm/bootstrap/pmix_abi.hpp"
#include "comm/bootstrap/support.hpp"

namespace fult::comm::detail {
namespace {

// The functions of the PMIx library, which is loaded when a rank connects: programs started otherwise do not
// need it.
struct pmix_library {
    loaded_library library{{"PMIx, which PMIX_NAMESPACE asks for,", "libpmix.so.2",
                            "install libpmix2, or start the program by fult-run", "version 3"}};
    pmix::init_function *init = library["PMIx_Init"];
    pmix::finalize_function *finalize = library["PMIx_Finalize"];
    pmix::abort_function *abort = library["PMIx_Abort"];
    pmix::put_function *put = library["PMIx_Put"];
    pmix::commit_function *commit = library["PMIx_Commit"];
    pmix::fence_function *fence_nb = library["PMIx_Fence_nb"];
    pmix::get_function *get = library["PMIx_Get"];
    pmix::error_string_function *error_string = library["PMIx_Error_string"];

    void check(pmix::status_t status, const char *call) const {
        if (status != pmix::success)
            throw bootstrap_error(std::string("fult: ") + call + ": " + error_string(status) +
                                  ": is the launcher that set PMIX_NAMESPACE still there, and every rank?");
    }
};

template <std::size_t N> void copy_name(char (&to)[N], std::string_view from) {
    to[from.copy(to, N - 1)] = '\0';
}

// The result of a fence; its callback may come after the fence has timed out.
struct fence_result {
    std::mutex mutex;
    std::condition_variable done;
    bool answered = false;
    pmix::status_t status = pmix::success;
};

void fence_answered(pmix::status_t status, void *data) {
    const std::unique_ptr<std::shared_ptr<fence_result>> result(
        static_cast<std::shared_ptr<fence_result> *>(data));
    const std::lock_guard lock((*result)->mutex);
    (*result)->answered = true;
    (*result)->status = status;
    (*result)->done.notify_one();
}

class pmix_client final : public bootstrap {
  public:
    pmix_client(pmix_library library, const pmix::proc &self, int size, std::chrono::milliseconds timeout)
        : bootstrap(static_cast<int>(self.rank), size), library_(library), self_(self), timeout_(timeout) {}

    // After an incomplete fence, this call may crash mpirun.
    ~pmix_client() override {
        if (broken_.empty())
            library_.finalize(nullptr, 0);
    }

    const char *name() const noexcept override { return "PMIx"; }

    std::vector<std::string> exchange(std::string_view contribution) override {
        check_contribution(contribution);
        const std::string key = "fult-" + std::to_string(++round_);
        // One extra byte: not every version supports empty objects.
        std::string bytes(1, '+');
        bytes += contribution;
        pmix::value value{};
        value.type = pmix::is_byte_object;
        value.data.bo = {bytes.data(), bytes.size()};
        library_.check(library_.put(pmix::global, key.c_str(), &value), "PMIx_Put");
        library_.check(library_.commit(), "PMIx_Commit");
        fence(true);
        std::vector<std::string> all;
        all.reserve(static_cast<std::size_t>(size()));
        for (int from = 0; from < size(); ++from)
            all.push_back(from == rank() ? std::string(contribution) : get(from, key));
        return all;
    }

    void barrier() override { fence(false); }

    void abort(int status, std::string_view reason) noexcept override {
        write_reason(rank(), reason);
        // Open MPI's mpirun ends all ranks when one ends with an error, without this call. If others are in a
        // fence, version 4.1 crashes or hangs at this call, one time in five.
        if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr)
            library_.abort((status & 0xff) == 0 ? 1 : status & 0xff, "", nullptr, 0);
        leave(status);
    }

  private:
    pmix::proc all_ranks() const {
        pmix::proc all = self_;
        all.rank = pmix::wildcard;
        return all;
    }

    void fence(bool collect) {
        if (!broken_.empty())
            throw bootstrap_error(broken_);
        const pmix::proc all = all_ranks();
        pmix::info info{};
        copy_name(info.key, pmix::collect_data);
        info.value.type = pmix::is_bool;
        info.value.data.flag = collect;
        // The callback owns a reference to the result, whether or not this thread still waits for it.
        const auto result = std::make_shared<fence_result>();
        auto theirs = std::make_unique<std::shared_ptr<fence_result>>(result);
        pmix::status_t status = library_.fence_nb(&all, 1, &info, 1, fence_answered, theirs.get());
        if (status == pmix::success)
            (void)theirs.release();
        if (status == pmix::operation_succeeded)
            return;
        library_.check(status, "PMIx_Fence_nb");
        std::unique_lock lock(result->mutex);
        if (!result->done.wait_for(lock, timeout_, [&] { return result->answered; })) {
            broken_ = "fult: not every rank has come to a PMIx fence within " + printed(timeout_) +
                      ": has one ended, or does one not call as the others do?";
            throw late_rank(broken_);
        }
        if (result->status != pmix::success)
            broken_ = "fult: a rank has ended before it came to a PMIx fence";
        library_.check(result->status, "PMIx_Fence_nb");
    }

    std::string get(int from, const std::string &key) const {
        pmix::proc peer = self_;
        peer.rank = static_cast<pmix::rank_t>(from);
        pmix::info info{};
        copy_name(info.key, pmix::timeout);
        info.value.type = pmix::is_int;
        info.value.data.integer = static_cast<int>(std::max<long long>(1, timeout_.count() / 1000));
        pmix::value *value = nullptr;
        library_.check(library_.get(&peer, key.c_str(), &info, 1, &value), "PMIx_Get");
        if (value == nullptr || value->type != pmix::is_byte_object)
            throw bootstrap_error("fult: rank " + std::to_string(from) +
                                  " gave PMIx something else than bytes");
        const std::string bytes(value->data.bo.bytes, value->data.bo.size);
        std::free(value->data.bo.bytes);
        std::free(value);
        if (bytes.empty() || bytes.size() > max_contribution + 1)
            throw bootstrap_error("fult: rank " + std::to_string(from) + " gave PMIx " +
                                  std::to_string(bytes.size()) + " bytes");
        return bytes.substr(1);
    }

    pmix_library library_;
    pmix::proc self_;
    std::chrono::milliseconds timeout_;
    unsigned round_ = 0;
    std::string broken_; // why no further call can succeed
};

int job_size(const pmix_library &library, pmix::proc self) {
    self.rank = pmix::wildcard;
    pmix::value *value = nullptr;
    library.check(library.get(&self, pmix::job_size, nullptr, 0, &value), "PMIx_Get of the number of ranks");
    const bool number = value != nullptr && value->type == pmix::is_uint32;
    const std::uint32_t size = number ? value->data.uint32 : 0;
    std::free(value);
    if (size == 0 || size > 1'000'000'000)
        throw bootstrap_error("fult: the PMIx server does not say how many ranks there are");
    return static_cast<int>(size);
}

} // namespace

std::unique_ptr<bootstrap> connect_pmix(std::chrono::milliseconds timeout) {
    const pmix_library library;
    pmix::proc self{};
    library.check(library.init(&self, nullptr, 0), "PMIx_Init");
    const int size = job_size(library, self);
    if (self.rank >= static_cast<pmix::rank_t>(size))
        throw bootstrap_error("fult: the PMIx server gave rank " + std::to_string(self.rank) + " of " +
                              std::to_string(size));
    return std::make_unique<pmix_client>(library, self, size, timeout);
}

} // namespace fult::comm::detail
