// Operations that notify a completion object of their end.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include <fult/detail/assertion.hpp>

#include "comm/completions/support.hpp"
#include "comm/device/endpoint_state.hpp"
#include "comm/one_sided/calls.hpp"
#include "comm/requests/pending.hpp"

namespace fult::comm {

using namespace detail;

namespace detail {

device &device_of(const endpoint &on, const char *call) { return state_of(on, call).on; }

void throw_failure(const completed &what, const char *call) {
    if (what.failure == errc::truncated)
        throw error(errc::truncated, std::string("fult-comm: ")
                                         .append(call)
                                         .append(": a message of rank ")
                                         .append(std::to_string(what.about.source))
                                         .append(" was longer than the memory of its receive"));
    operation op;
    op.failure = what.failure;
    op.about = what.about;
    throw_failure(op, call);
    std::abort(); // not reached: it throws
}

} // namespace detail

namespace {

// The operation may end, on another thread, while the call that starts it still uses it: both keep a
// reference.
template <class Operation> struct bound final : Operation, callback {
    completion *when;
    std::uint64_t note;
    std::atomic<unsigned> keepers{2};
    bound(completion &who, std::uint64_t what) noexcept : when(&who), note(what) {
        this->finished = [](operation &op, callback_queue *locked) noexcept {
            auto &self = static_cast<bound &>(op);
            if (locked)
                locked->add(self);
            else
                self.end();
        };
        this->run = [](callback &due) noexcept { static_cast<bound &>(due).end(); };
    }
    void end() noexcept {
        when->complete_expected({this->about, this->failure, note});
        drop();
    }
    void drop() noexcept {
        FULT_ASSERT(keepers.load(std::memory_order_relaxed) != 0, "each of the two drops its reference once");
        if (keepers.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }
};

// One expected operation of a completion object, cancelled if the operation does not start.
class expectation {
  public:
    explicit expectation(completion &who) : who_(&who) { who.expect_one(); }
    ~expectation() {
        if (who_)
            who_->cancel_expected();
    }
    expectation(const expectation &) = delete;
    expectation &operator=(const expectation &) = delete;
    void detach() noexcept { who_ = nullptr; } // to the operation

  private:
    completion *who_;
};

// The caller's reference, until the operation has started.
struct dropper {
    template <class Operation> void operator()(bound<Operation> *o) const noexcept { o->drop(); }
};
template <class Operation> using begun = std::unique_ptr<bound<Operation>, dropper>;

void begin(std::unique_ptr<bound<access>> a) {
    FULT_ASSERT(a->through && a->finished);
    a->when->expect_one(); // nothing can fail from here on
    const begun<access> kept(a.release());
    kept->through->on.remote_memory().begin(*kept);
}

} // namespace

void completion::expect_one() {}
void completion::complete_expected(const completed &what) noexcept { complete(what); }
void completion::cancel_expected() noexcept {}

void isend(endpoint &through, const void *data, std::size_t size, int destination, std::int64_t tag,
           completion &when, std::uint64_t note) {
    endpoint_state &from = state_of(through, "isend");
    const std::uint32_t its_tag = from.check_destination("isend", destination, tag);
    expectation end(when);
    if (const int to = from.world_rank(destination);
        size <= from.on.eager_limit(to) && from.on.send_now(from, to, its_tag, data, size)) {
        end.detach();
        when.complete_expected({{destination, its_tag, size}, errc::none, note});
        return;
    }
    auto s = std::make_unique<bound<sending>>(when, note);
    describe_send(*s, from, data, size, destination, its_tag);
    end.detach();
    const begun<sending> kept(s.release());
    from.on.send(*kept);
}

void irecv(endpoint &at, void *data, std::size_t size, int source, std::int64_t tag, completion &when,
           std::uint64_t note) {
    endpoint_state &here = state_of(at, "irecv");
    here.check_source("irecv", source, tag);
    auto r = std::make_unique<bound<receive>>(when, note);
    describe_receive(*r, here, data, size, source, tag);
    when.expect_one(); // nothing can fail from here on
    const begun<receive> kept(r.release());
    here.on.post(*kept);
}

void iput(endpoint &through, const void *data, std::size_t size, const remote_region &to, std::size_t offset,
          completion &when, std::uint64_t note) {
    auto a = std::make_unique<bound<access>>(when, note);
    describe_access(*a, through, "iput", true, const_cast<void *>(data), size, to, offset);
    begin(std::move(a));
}

void iput_signal(endpoint &through, const void *data, std::size_t size, const remote_region &to,
                 std::size_t offset, std::int64_t tag, completion &when, std::uint64_t note) {
    auto a = std::make_unique<bound<access>>(when, note);
    describe_access(*a, through, "iput_signal", true, const_cast<void *>(data), size, to, offset);
    describe_signal(*a, "iput_signal", tag);
    begin(std::move(a));
}

void iget(endpoint &through, void *data, std::size_t size, const remote_region &from, std::size_t offset,
          completion &when, std::uint64_t note) {
    auto a = std::make_unique<bound<access>>(when, note);
    describe_access(*a, through, "iget", false, data, size, from, offset);
    begin(std::move(a));
}

} // namespace fult::comm
