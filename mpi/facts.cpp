#include "facts.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace fult::mpi {
namespace {

class text_buffer {
  public:
    text_buffer(char *text, std::size_t size) noexcept : text_(text), size_(size) {
        if (size != 0)
            text[0] = '\0';
    }
    template <class... Values> void append(const char *format, Values... values) noexcept {
        if (used_ >= size_)
            return;
        const int more = std::snprintf(text_ + used_, size_ - used_, format, values...);
        used_ += static_cast<std::size_t>(std::max(more, 0));
    }
    const char *separator() const noexcept { return used_ == 0 ? "" : ", "; }

  private:
    char *text_;
    std::size_t size_;
    std::size_t used_ = 0;
};

void append_peer(text_buffer &to, const call_facts &facts) noexcept {
    if (facts.peer == MPI_ANY_SOURCE)
        to.append("%s", "from any rank");
    else if (facts.peer == MPI_PROC_NULL)
        to.append("%s", "MPI_PROC_NULL");
    else
        to.append("%s %d", facts.relation, facts.peer);
}

void append_comm(text_buffer &to, MPI_Comm comm) noexcept {
    if (comm == MPI_COMM_WORLD)
        to.append("%sMPI_COMM_WORLD", to.separator());
    else if (comm == MPI_COMM_SELF)
        to.append("%sMPI_COMM_SELF", to.separator());
    else // a number with one MPI, a pointer with another
        to.append("%scommunicator %#llx", to.separator(), (unsigned long long)(std::uintptr_t)comm);
}

} // namespace

void describe(const call_facts &facts, char *text, std::size_t size) noexcept {
    text_buffer to(text, size);
    if (facts.relation)
        append_peer(to, facts);
    if (facts.has_tag && facts.tag == MPI_ANY_TAG)
        to.append("%sany tag", to.separator());
    else if (facts.has_tag)
        to.append("%stag %d", to.separator(), facts.tag);
    if (facts.has_comm)
        append_comm(to, facts.comm);
}

} // namespace fult::mpi
