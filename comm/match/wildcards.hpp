// Matching where a receive may leave its source open, its tag, or both.
//
// A receive stands in one of four kinds of lists: those of a source and a tag, of a source, of a tag, and the
// one of all. A message stands in a list of each kind. So a receive finds its message at the head of one
// list, and a message its receive, the one posted first, at the head of four: constant time however many
// wait. A list holds receives or messages, never both, since each message in it would match each receive.
//
// One lock a matcher. All functions from any thread; none suspends. Callbacks run under the lock and must not
// call the matcher. Nothing is allocated for an item; the indexes that find lists grow a few buckets at each
// call, and where there is no memory for a larger one the present one serves on, slower.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "comm/match/match_item.hpp"
#include "comm/match/spin.hpp"

namespace fult::comm::detail {

// What a receive or a probe asks for. The lower half of a key is its tag, the upper half its source (with the
// endpoint's bits, which are equal for all that one matcher sees). An open half of the key is not looked at.
struct match_pattern {
    std::uint64_t key = 0;
    bool any_source = false;
    bool any_tag = false;
};

// A receive as the matcher sees it, and what a message has in common with one. A message's list of its source
// and tag, and whatever list a receive stands in, uses the links of match_item. So all that a receive needs
// lies in one cache line.
struct wildcard_item : match_item {
    std::uint8_t list = 0;      // of a receive: the kind of list it stands in
    std::uint64_t sequence = 0; // of a receive: how many were posted before it
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
    ~wildcard_matcher(); // what is still queued belongs to the caller

    // The oldest message that the pattern fits, taken out; or null, and the receive is queued: from then on
    // another thread may take it at any time.
    wildcard_item *post(const match_pattern &what, wildcard_item &receive) noexcept;

    // The receive posted first of those that fit, taken out; or null, and the message is queued.
    wildcard_item *arrive(std::uint64_t key, wildcard_message &message) noexcept;

    // Takes that item out if it is still queued; false: it was matched or removed.
    bool remove(wildcard_item &item) noexcept;

    // Calls f(wildcard_item &) on the oldest message that fits and leaves it; false: there is none.
    template <class F> bool look(const match_pattern &what, F f) noexcept {
        return look_at(
            what, [](void *f, wildcard_item &i) { (*static_cast<F *>(f))(i); }, std::addressof(f));
    }

    // Takes out all items of that kind for which pred(wildcard_item &) is true, linked by match_item::next:
    // messages in the order of their arrival, receives in no order. Slow.
    template <class P> wildcard_item *remove_if(kind k, P pred) noexcept {
        return remove_all(
            k, [](void *p, wildcard_item &i) -> bool { return (*static_cast<P *>(p))(i); },
            std::addressof(pred));
    }

    std::size_t count(kind k) const noexcept;

  private:
    class index;
    using visitor = void (*)(void *, wildcard_item &);
    using condition = bool (*)(void *, wildcard_item &);

    match_item **find(unsigned list, std::uint64_t key, bool &found) noexcept;
    void append(unsigned list, wildcard_item &item) noexcept;
    void unlink(unsigned list, wildcard_item &item) noexcept;
    void take(wildcard_item &item) noexcept;
    bool look_at(const match_pattern &what, visitor f, void *context) noexcept;
    wildcard_item *remove_all(kind k, condition pred, void *context) noexcept;

    mutable spin lock_;
    std::uint64_t posted_ = 0;
    std::array<std::size_t, 4> receives_{}; // by kind of list
    std::size_t messages_ = 0;
    match_item *all_ = nullptr; // the head of the list of all
    std::unique_ptr<index[]> indexes_;
};

} // namespace fult::comm::detail
