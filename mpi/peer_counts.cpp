#include "peer_counts.hpp"

#include <algorithm>
#include <cstring>

#include "text_buffer.hpp"

namespace fult::mpi {
namespace {

bool have_same_peer(const call_facts &a, const call_facts &b) noexcept {
    if (!a.relation || !b.relation)
        return a.relation == b.relation && std::strcmp(a.name, b.name) == 0;
    return a.peer == b.peer && std::strcmp(a.relation, b.relation) == 0;
}

} // namespace

void peer_counts::add(const operation &op) noexcept {
    FULT_ASSERT(op.count == 0 || op.parts_left != 0, "it is under way");
    ++all_;
    entry *const end = entries_ + used_;
    entry *const known =
        std::find_if(entries_, end, [&](const entry &e) { return have_same_peer(*e.facts, op.facts); });
    if (known != end) {
        ++known->count;
    } else if (used_ < max_entries) {
        entries_[used_++] = {&op.facts, 1};
    } else {
        ++others_;
    }
}

void peer_counts::describe(char *text, std::size_t size) const noexcept {
    text_buffer to(text, size);
    to.append("%u %s under way", all_, all_ == 1 ? "is" : "are");
    const char *before = ": ";
    for (std::size_t i = 0; i < used_; ++i) {
        to.append("%s%u ", before, entries_[i].count);
        append_peer(to, *entries_[i].facts);
        before = ", ";
    }
    if (others_ != 0)
        to.append(", %u with others", others_);
}

} // namespace fult::mpi
