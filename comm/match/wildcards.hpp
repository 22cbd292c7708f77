// Matching if receives may leave their source, their tag or both open.
//
// There are four kinds of lists: one list for each source and tag, one for each source, one for each tag, and
// one for all. A receive is queued in one list, a message in one of each kind. So a receive finds its message
// at the head of one list, and a message finds its receive, the one posted first, at the head of one of four:
// constant time however many are queued. A list holds receives or messages, never both, since each message in
// it would match each receive.
//
// One lock for each matcher. All functions from any thread; none suspends. Callbacks run under the lock and
// must not call the matcher. Nothing is allocated for an item. The indexes of the lists grow by a few buckets
// at each call; if there is no memory for a larger index, the present one remains in use, slower.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "comm/match/match_item.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

// What a receive or a probe requests. The lower half of a key is its tag, the upper half its source (with the
// endpoint's bits, which are equal for all keys of one matcher). An open half of the key is ignored.
struct match_pattern {
    std::uint64_t key = 0;
    bool any_source = false;
    bool any_tag = false;
};

// A receive, and the common part of a message. The links of match_item are those of a message's list by
// source and tag, and of the one list that a receive is in. So all fields of a receive lie in one cache line.
struct wildcard_item : match_item {
    std::uint8_t list = 0;      // of a receive: the kind of its list
    std::uint64_t sequence = 0; // of a receive: number of receives posted before it
};

struct wildcard_message : wildcard_item {
    struct links {
        match_item *next;
        match_item *prev;
        match_item *chain;
    };
    links in[3] = {}; // by source, by tag, all
};

class wildcard_matcher {
  public:
    using kind = match_kind;

    wildcard_matcher(); // throws std::bad_alloc
    wildcard_matcher(const wildcard_matcher &) = delete;
    wildcard_matcher &operator=(const wildcard_matcher &) = delete;
    ~wildcard_matcher(); // items that are still queued belong to the caller

    // Removes and returns the oldest message that matches the pattern. Else queues the receive and returns
    // nullptr: from then on another thread may take it at any time.
    wildcard_item *post(const match_pattern &pattern, wildcard_item &receive) noexcept;

    // Removes and returns the oldest message that matches the pattern; nullptr if there is none.
    wildcard_item *take_message(const match_pattern &pattern) noexcept;

    // Removes and returns the matching receive that was posted first. Else queues the message and returns
    // nullptr.
    wildcard_item *arrive(std::uint64_t key, wildcard_message &message) noexcept;

    // Removes the item if it is still queued; returns false if it was matched or removed.
    bool remove(wildcard_item &item) noexcept;

    // Calls f(wildcard_item &) on the oldest matching message without removing it; returns false if there is
    // none.
    template <class F> bool peek(const match_pattern &pattern, F f) noexcept {
        return peek_with(
            pattern, [](void *f, wildcard_item &i) { (*static_cast<F *>(f))(i); }, std::addressof(f));
    }

    // Removes all items of that kind for which pred(wildcard_item &) is true, linked by match_item::next:
    // messages in order of arrival, receives in no order. Slow.
    template <class P> wildcard_item *remove_if(kind k, P pred) noexcept {
        return remove_all(
            k, [](void *p, wildcard_item &i) -> bool { return (*static_cast<P *>(p))(i); },
            std::addressof(pred));
    }

  private:
    class index;
    using visitor = void (*)(void *, wildcard_item &);
    using condition = bool (*)(void *, wildcard_item &);

    match_item **find(unsigned list, std::uint64_t key, bool &found) noexcept;
    void append(unsigned list, wildcard_item &item) noexcept;
    void unlink(unsigned list, wildcard_item &item) noexcept;
    void take(wildcard_item &item) noexcept;
    bool peek_with(const match_pattern &pattern, visitor f, void *context) noexcept;
    wildcard_item *remove_all(kind k, condition pred, void *context) noexcept;

    fult::detail::spin_lock lock_;
    std::uint64_t posted_ = 0;
    std::array<std::size_t, 4> receives_{}; // by kind of list
    std::size_t messages_ = 0;
    match_item *all_ = nullptr; // head of the one list for all
    std::unique_ptr<index[]> indexes_;
};

} // namespace fult::comm::detail
