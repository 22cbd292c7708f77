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
#include "comm/requests/request_state.hpp"

namespace fult::comm {

using namespace detail;

namespace detail {

device &device_of(const endpoint &ep, const char *call) { return state_of(ep, call).device; }

void throw_failure(const completion_event &event, const char *call) {
    if (event.failure == errc::truncated)
        throw error(errc::truncated, std::string("fult-comm: ")
                                         .append(call)
                                         .append(": a message of rank ")
                                         .append(std::to_string(event.envelope.source))
                                         .append(" was longer than the memory of its receive"));
    operation op;
    op.failure = event.failure;
    op.envelope = event.envelope;
    throw_failure(op, call);
    std::abort(); // not reached: it throws
}

} // namespace detail

namespace {

// The operation may end, on another thread, while the call that starts it still uses it: both keep a
// reference.
template <class Operation> struct bound_operation final : Operation, callback {
    comm::completion *object;
    std::uint64_t user_data;
    std::atomic<unsigned> references{2};
    bound_operation(comm::completion &completion, std::uint64_t data) noexcept
        : object(&completion), user_data(data) {
        this->finished = [](operation &op, callback_queue *callbacks) noexcept {
            auto &self = static_cast<bound_operation &>(op);
            if (callbacks)
                callbacks->add(self);
            else
                self.end();
        };
        this->run = [](callback &due) noexcept { static_cast<bound_operation &>(due).end(); };
    }
    void end() noexcept {
        completion_access::end(*object, {this->envelope, this->failure, user_data});
        drop();
    }
    void drop() noexcept {
        FULT_ASSERT(references.load(std::memory_order_relaxed) != 0,
                    "each of the two drops its reference once");
        if (references.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }
};

// One expected operation of a completion object, cancelled if the operation does not start.
class expectation {
  public:
    explicit expectation(completion &object) : object_(&object) { completion_access::expect(object); }
    ~expectation() {
        if (object_)
            completion_access::cancel(*object_);
    }
    expectation(const expectation &) = delete;
    expectation &operator=(const expectation &) = delete;
    void detach() noexcept { object_ = nullptr; } // to the operation

  private:
    completion *object_;
};

// The caller's reference, until the operation has started.
struct dropper {
    template <class Operation> void operator()(bound_operation<Operation> *o) const noexcept { o->drop(); }
};
template <class Operation> using begun = std::unique_ptr<bound_operation<Operation>, dropper>;

void begin(std::unique_ptr<bound_operation<access>> a) {
    FULT_ASSERT(a->endpoint && a->finished);
    completion_access::expect(*a->object); // nothing can fail from here on
    const begun<access> kept(a.release());
    kept->endpoint->device.remote_memory().begin(*kept);
}

} // namespace

void completion::expect_one() {}
void completion::complete_expected(const completion_event &event) noexcept { complete(event); }
void completion::cancel_expected() noexcept {}

void endpoint::isend(const void *data, std::size_t size, int destination, std::int64_t tag,
                     completion &object, std::uint64_t user_data) {
    endpoint_state &state = state_of(*this, "isend");
    const std::uint32_t its_tag = state.check_destination("isend", destination, tag);
    expectation end(object);
    if (state.device.send_now(state, state.world_rank(destination), its_tag, data, size)) {
        end.detach();
        completion_access::end(object, {{destination, its_tag, size}, errc::none, user_data});
        return;
    }
    auto s = std::make_unique<bound_operation<send_operation>>(object, user_data);
    describe_send(*s, state, data, size, destination, its_tag);
    end.detach();
    const begun<send_operation> kept(s.release());
    state.device.send(*kept);
}

void endpoint::irecv(void *data, std::size_t size, int source, std::int64_t tag, completion &object,
                     std::uint64_t user_data) {
    endpoint_state &state = state_of(*this, "irecv");
    state.check_source("irecv", source, tag);
    auto r = std::make_unique<bound_operation<receive>>(object, user_data);
    describe_receive(*r, state, data, size, source, tag);
    completion_access::expect(object); // nothing can fail from here on
    const begun<receive> kept(r.release());
    state.device.post(*kept);
}

void iput(endpoint &ep, const void *data, std::size_t size, const remote_region &to, std::size_t offset,
          completion &object, std::uint64_t user_data) {
    auto a = std::make_unique<bound_operation<access>>(object, user_data);
    describe_access(*a, ep, "iput", true, const_cast<void *>(data), size, to, offset);
    begin(std::move(a));
}

void iput_signal(endpoint &ep, const void *data, std::size_t size, const remote_region &to,
                 std::size_t offset, std::int64_t tag, completion &object, std::uint64_t user_data) {
    auto a = std::make_unique<bound_operation<access>>(object, user_data);
    describe_access(*a, ep, "iput_signal", true, const_cast<void *>(data), size, to, offset);
    describe_signal(*a, "iput_signal", tag);
    begin(std::move(a));
}

void iget(endpoint &ep, void *data, std::size_t size, const remote_region &from, std::size_t offset,
          completion &object, std::uint64_t user_data) {
    auto a = std::make_unique<bound_operation<access>>(object, user_data);
    describe_access(*a, ep, "iget", false, data, size, from, offset);
    begin(std::move(a));
}

} // namespace fult::comm
