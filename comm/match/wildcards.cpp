#include "comm/match/wildcards.hpp"

#include <mutex>
#include <new>
#include <utility>

#include <fult/detail/assertion.hpp>

#include "comm/match/zeroed.hpp"

namespace fult::comm::detail {

namespace {

// Kinds of lists, by what their receives specify.
enum : unsigned { exact_lists, source_lists, tag_lists, any_list };

// Identifies a list among those of its kind.
constexpr std::uint64_t part_of(unsigned list, std::uint64_t key) noexcept {
    switch (list) {
    case source_lists:
        return key >> 32;
    case tag_lists:
        return key & 0xffffffff;
    case any_list:
        return 0;
    default:
        return key;
    }
}

constexpr unsigned list_of(const match_pattern &pattern) noexcept {
    return (pattern.any_source ? tag_lists : exact_lists) | (pattern.any_tag ? source_lists : exact_lists);
}
static_assert(list_of({0, true, true}) == any_list && list_of({0, true, false}) == tag_lists);
static_assert(list_of({0, false, true}) == source_lists && list_of({0, false, false}) == exact_lists);
static_assert(part_of(any_list, 1) == part_of(any_list, 2) && part_of(tag_lists, 7) == 7);

// The lowest three bits choose within a cache line of pointers: consecutive tags share a line.
constexpr std::size_t spread_of(std::uint64_t part) noexcept {
    std::uint64_t h = (part >> 3) * 0xd6e8feb86659fd93U;
    h ^= h >> 32;
    h *= 0xff51afd7ed558ccdU;
    return (h >> 29 & ~std::uint64_t{7}) | ((part ^ h >> 26) & 7);
}

// The links of an item in a list of that kind. A list holds only receives or only messages.
struct links {
    match_item *&next;  // next younger item
    match_item *&prev;  // next older item; of the oldest: the youngest
    match_item *&chain; // of the oldest: the oldest of another list in the same bucket
};
links links_of(unsigned list, match_item &item) noexcept {
    if (list == exact_lists || item.kind == match_kind::receive)
        return {item.next, item.prev, item.chain};
    wildcard_message::links &in = static_cast<wildcard_message &>(item).in[list - 1];
    return {in.next, in.prev, in.chain};
}

} // namespace

// Finds the oldest item of a list. The index doubles when it has half as many lists as buckets; the old
// buckets are moved a few at each call.
class wildcard_matcher::index {
  public:
    index() : memory_(first_size * sizeof(match_item *)), mask_(first_size - 1) {
        if (!memory_)
            throw std::bad_alloc();
        buckets_ = memory_.as<match_item *>();
    }

    // Returns the pointer to the oldest item of the list of that part; if not found, the first pointer of its
    // bucket.
    match_item **find(unsigned list, std::uint64_t part, bool &found) noexcept {
        match_item **const bucket = bucket_of(part);
        for (match_item **at = bucket; *at; at = &links_of(list, **at).chain)
            if (part_of(list, (*at)->key) == part) {
                found = true;
                return at;
            }
        found = false;
        return bucket;
    }

    void count_add(unsigned list) noexcept {
        ++lists_;
        if (old_) {
            for (unsigned n = 0; n < moves_at_once && old_; ++n)
                move_bucket(list);
        } else if (lists_ > grow_above_) {
            const std::size_t size = mask_ + 1;
            if (zeroed_memory larger{2 * size * sizeof(match_item *)}) {
                old_memory_ = std::exchange(memory_, std::move(larger));
                old_ = buckets_;
                old_mask_ = mask_;
                moved_ = 0;
                buckets_ = memory_.as<match_item *>();
                mask_ = 2 * size - 1;
                grow_above_ = size;
            } else {
                grow_above_ = 2 * lists_; // retry later
            }
        }
    }
    void count_remove() noexcept {
        FULT_ASSERT(lists_ != 0);
        --lists_;
    }

    // Calls f on the oldest item of each list. f may remove items.
    template <class F> void each(unsigned list, F f) {
        const auto all = [&](match_item **buckets, std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i)
                for (match_item *oldest = buckets[i]; oldest;) {
                    match_item *const next = links_of(list, *oldest).chain;
                    f(oldest);
                    oldest = next;
                }
        };
        if (old_)
            all(old_, moved_, old_mask_ + 1);
        all(buckets_, 0, mask_ + 1);
    }

  private:
    static constexpr std::size_t first_size = 512; // one page
    // The next doubling comes after as many more lists as there were buckets before, so two would suffice.
    static constexpr unsigned moves_at_once = 4;

    match_item **bucket_of(std::uint64_t part) noexcept {
        const std::size_t hash = spread_of(part);
        if (old_ && (hash & old_mask_) >= moved_)
            return &old_[hash & old_mask_];
        return &buckets_[hash & mask_];
    }
    void move_bucket(unsigned list) noexcept {
        match_item *each = old_[moved_++];
        FULT_ASSERT(moved_ <= old_mask_ + 1 && old_mask_ < mask_);
        while (each) {
            match_item *&chain = links_of(list, *each).chain;
            match_item *&to = buckets_[spread_of(part_of(list, each->key)) & mask_];
            match_item *const next = std::exchange(chain, to);
            to = each;
            each = next;
        }
        if (moved_ > old_mask_) {
            old_ = nullptr;
            old_memory_ = zeroed_memory();
        }
    }

    zeroed_memory memory_, old_memory_;
    match_item **buckets_;
    std::size_t mask_;
    match_item **old_ = nullptr; // valid from moved_ on; nullptr: all are in buckets_
    std::size_t old_mask_ = 0, moved_ = 0;
    std::size_t lists_ = 0, grow_above_ = first_size / 2;
};

wildcard_matcher::wildcard_matcher() : indexes_(std::make_unique<index[]>(any_list)) {}
wildcard_matcher::~wildcard_matcher() = default;

match_item **wildcard_matcher::find(unsigned list, std::uint64_t key, bool &found) noexcept {
    if (list != any_list)
        return indexes_[list].find(list, part_of(list, key), found);
    found = all_ != nullptr;
    return &all_;
}

void wildcard_matcher::append(unsigned list, wildcard_item &item) noexcept {
    bool found;
    match_item **const slot = find(list, item.key, found);
    FULT_ASSERT(lock_.is_held() && item.queued);
    FULT_ASSERT(!found || (*slot)->kind == item.kind, "a list holds receives or messages, never both");
    const links own = links_of(list, item);
    own.next = nullptr;
    if (found) {
        match_item *&youngest = links_of(list, **slot).prev;
        own.prev = youngest;
        links_of(list, *youngest).next = &item;
        youngest = &item;
    } else {
        own.prev = &item;
        own.chain = *slot;
        *slot = &item;
        if (list != any_list)
            indexes_[list].count_add(list);
    }
}

void wildcard_matcher::unlink(unsigned list, wildcard_item &item) noexcept {
    const links own = links_of(list, item);
    FULT_ASSERT(lock_.is_held() && own.prev, "the item is in this list");
    bool found = true;
    // The youngest has no next, and is the oldest's prev.
    if (match_item *&older = links_of(list, *own.prev).next) {
        older = own.next;
        links_of(list, own.next ? *own.next : **find(list, item.key, found)).prev = own.prev;
        return;
    }
    match_item **const slot = find(list, item.key, found);
    FULT_ASSERT(found && *slot == &item);
    if (own.next) {
        const links next = links_of(list, *own.next);
        next.prev = own.prev;
        next.chain = own.chain;
        *slot = own.next;
    } else {
        *slot = own.chain;
        if (list != any_list)
            indexes_[list].count_remove();
    }
}

void wildcard_matcher::take(wildcard_item &item) noexcept {
    FULT_ASSERT(item.queued && lock_.is_held());
    item.queued = false;
    if (item.kind == kind::receive) {
        unlink(item.list, item);
        FULT_ASSERT(receives_[item.list] != 0);
        --receives_[item.list];
    } else {
        for (unsigned list = exact_lists; list <= any_list; ++list)
            unlink(list, item);
        FULT_ASSERT(messages_ != 0);
        --messages_;
    }
}

wildcard_item *wildcard_matcher::post(const match_pattern &pattern, wildcard_item &receive) noexcept {
    FULT_ASSERT(!receive.queued);
    const unsigned list = list_of(pattern);
    const std::lock_guard guard(lock_);
    ++posted_;
    bool found = false;
    if (messages_ != 0) {
        match_item *const oldest = *find(list, pattern.key, found);
        if (found && oldest->kind == kind::message) {
            take(static_cast<wildcard_item &>(*oldest));
            return static_cast<wildcard_item *>(oldest);
        }
    }
    receive.key = pattern.key;
    receive.kind = kind::receive;
    receive.queued = true;
    receive.list = static_cast<std::uint8_t>(list);
    receive.sequence = posted_;
    append(list, receive);
    ++receives_[list];
    return nullptr;
}

wildcard_item *wildcard_matcher::take_message(const match_pattern &pattern) noexcept {
    const std::lock_guard guard(lock_);
    bool found = false;
    match_item *const oldest = messages_ != 0 ? *find(list_of(pattern), pattern.key, found) : nullptr;
    if (!found || oldest->kind != kind::message)
        return nullptr;
    take(static_cast<wildcard_item &>(*oldest));
    return static_cast<wildcard_item *>(oldest);
}

wildcard_item *wildcard_matcher::arrive(std::uint64_t key, wildcard_message &message) noexcept {
    FULT_ASSERT(!message.queued);
    const std::lock_guard guard(lock_);
    wildcard_item *first = nullptr;
    for (unsigned list = exact_lists; list <= any_list; ++list) {
        if (receives_[list] == 0)
            continue;
        bool found;
        match_item *const head = *find(list, key, found);
        if (!found || head->kind != kind::receive)
            continue;
        wildcard_item *const oldest = static_cast<wildcard_item *>(head);
        FULT_ASSERT(oldest->list == list && oldest->queued);
        if (!first || oldest->sequence < first->sequence)
            first = oldest;
    }
    if (first) {
        take(*first);
        return first;
    }
    message.key = key;
    message.kind = kind::message;
    message.queued = true;
    for (unsigned list = exact_lists; list <= any_list; ++list)
        append(list, message);
    ++messages_;
    return nullptr;
}

bool wildcard_matcher::remove(wildcard_item &item) noexcept {
    const std::lock_guard guard(lock_);
    if (!item.queued)
        return false;
    take(item);
    return true;
}

bool wildcard_matcher::peek_with(const match_pattern &pattern, visitor f, void *context) noexcept {
    const std::lock_guard guard(lock_);
    bool found;
    match_item *const oldest = *find(list_of(pattern), pattern.key, found);
    if (!found || oldest->kind != kind::message)
        return false;
    f(context, static_cast<wildcard_item &>(*oldest));
    return true;
}

wildcard_item *wildcard_matcher::remove_all(kind k, condition pred, void *context) noexcept {
    const std::lock_guard guard(lock_);
    match_item *out = nullptr, **end = &out;
    const auto from_list = [&](unsigned list, match_item *oldest) {
        for (match_item *each = oldest && oldest->kind == k ? oldest : nullptr; each;) {
            auto &item = static_cast<wildcard_item &>(*each);
            each = links_of(list, *each).next;
            if (pred(context, item)) {
                take(item);
                item.next = nullptr;
                *end = &item;
                end = &item.next;
            }
        }
    };
    from_list(any_list, all_);
    if (k == kind::receive)
        for (unsigned list = exact_lists; list < any_list; ++list)
            indexes_[list].each(list, [&](match_item *oldest) { from_list(list, oldest); });
    return static_cast<wildcard_item *>(out);
}

} // namespace fult::comm::detail
