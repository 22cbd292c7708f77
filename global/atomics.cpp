// Atomic operations: in memory that this process has mapped, or by the owner of the object, in the handler of
// a request.
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <fult/comm/completion.hpp>
#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/misuse.hpp>

#include "global/state.hpp"

namespace fult::global::detail {

namespace {

template <class T> std::uint64_t apply_change(std::byte *where, const atomic_request &wanted) noexcept {
    const std::atomic_ref<T> object(*reinterpret_cast<T *>(where));
    const T operand = value_of<T>(wanted.operand);
    // Acquire and release: the change may publish other objects, as a lock or a list's head does.
    if (wanted.operation == atomic_operation::add)
        return word_of(object.fetch_add(operand, std::memory_order_acq_rel));
    T expected = value_of<T>(wanted.expected);
    object.compare_exchange_strong(expected, operand, std::memory_order_acq_rel);
    return word_of(expected);
}

std::size_t size_of(atomic_type type) noexcept {
    switch (type) {
    case atomic_type::bits8:
        return 1;
    case atomic_type::bits16:
        return 2;
    case atomic_type::bits32:
    case atomic_type::float32:
        return 4;
    default:
        return 8;
    }
}

// The value before. The place is checked.
std::uint64_t carry_out(std::byte *where, const atomic_request &wanted) noexcept {
    FULT_ASSERT(fult::detail::address_of(where) % size_of(wanted.type) == 0, "the place is aligned");
    switch (wanted.type) {
    case atomic_type::bits8:
        return apply_change<std::uint8_t>(where, wanted);
    case atomic_type::bits16:
        return apply_change<std::uint16_t>(where, wanted);
    case atomic_type::bits32:
        return apply_change<std::uint32_t>(where, wanted);
    case atomic_type::float32:
        return apply_change<float>(where, wanted);
    case atomic_type::float64:
        return apply_change<double>(where, wanted);
    default:
        return apply_change<std::uint64_t>(where, wanted);
    }
}

// A reply that found no room.
struct late_reply final : comm::completion {
    std::uint64_t value = 0;
    void complete(const comm::completion_event &) noexcept override { delete this; }
};

} // namespace

// Called while making progress: nothing here suspends.
void memory_state::handle(const comm::status &about, std::span<const std::byte> bytes) noexcept {
    atomic_request wanted;
    if (bytes.size() != sizeof wanted)
        return; // not from a global memory
    std::memcpy(&wanted, bytes.data(), sizeof wanted);
    const std::size_t size = size_of(wanted.type);
    if (wanted.offset > objects.size() || size > objects.size() - wanted.offset || wanted.offset % size != 0)
        return;
    reply(about.source, about.tag, carry_out(objects.begin() + wanted.offset, wanted));
}

void memory_state::reply(int to, std::uint32_t tag, std::uint64_t value) noexcept {
    try {
        if (replies.enqueue(&value, sizeof value, to, tag))
            return;
        auto late = std::make_unique<late_reply>();
        late->value = value;
        replies.isend(&late->value, sizeof value, to, tag, *late);
        (void)late.release();
    } catch (const comm::error &) { // the rank has ended, and waits for nothing
    } catch (const std::bad_alloc &) {
        fult::detail::misuse("global::memory", "no memory for the reply to an atomic operation; "
                                               "remedy: more memory, or fewer operations at a time");
    }
}

// The request is answered before anything else of this task: a message and a receive.
std::uint64_t memory_state::request_change(int owner, const atomic_request &wanted) {
    const reply_tag tag(tags);
    requests.send(wanted, owner, tag);
    return replies.recv<std::uint64_t>(owner, tag);
}

} // namespace fult::global::detail

namespace fult::global {

std::uint64_t memory::change(detail::atomic_operation operation, detail::atomic_type type, detail::place at,
                             std::uint64_t operand, std::uint64_t expected) {
    const char *const call = operation == detail::atomic_operation::add ? "fetch_add" : "compare_exchange";
    const std::size_t size = detail::size_of(type);
    const detail::rank_heap &of = state_->heap_of(call, at, size);
    if (at.offset() % size != 0)
        throw std::invalid_argument(std::string("fult-global: ") + call + ": the object at " +
                                    detail::to_string(at) + " is not aligned to its " + std::to_string(size) +
                                    " bytes");
    const detail::atomic_request wanted{at.offset(), operand, expected, operation, type, {}};
    std::byte *const object = of.address(at);
    if (!object)
        return state_->request_change(at.rank(), wanted);
    const std::uint64_t before = detail::carry_out(object, wanted);
    state_->has_accessed(at, size);
    return before;
}

} // namespace fult::global
