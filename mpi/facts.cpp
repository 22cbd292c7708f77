#include "facts.hpp"

#include <cstdint>

#include "text_buffer.hpp"

namespace fult::mpi {
namespace {

void append_comm(text_buffer &to, MPI_Comm comm) noexcept {
    if (comm == MPI_COMM_WORLD)
        to.append("%sMPI_COMM_WORLD", to.separator());
    else if (comm == MPI_COMM_SELF)
        to.append("%sMPI_COMM_SELF", to.separator());
    else // a number with one MPI, a pointer with another
        to.append("%scommunicator %#llx", to.separator(), (unsigned long long)(std::uintptr_t)comm);
}

} // namespace

void append_peer(text_buffer &to, const call_facts &facts) noexcept {
    if (!facts.relation)
        to.append("in %s", facts.name);
    else if (facts.peer == MPI_ANY_SOURCE)
        to.append("%s", "from any rank");
    else if (facts.peer == MPI_PROC_NULL)
        to.append("%s", "MPI_PROC_NULL");
    else
        to.append("%s %d", facts.relation, facts.peer);
}

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
