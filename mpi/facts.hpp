// What a call is about, for reports of what tasks wait for.
#pragma once

#include <cstddef>

#include "abi.hpp"

namespace fult::mpi {

struct call_facts {
    const char *name;               // "MPI_Recv"
    const char *relation = nullptr; // "to rank", "from rank", "root": of the peer; null: there is none
    int peer = 0;                   // may be MPI_ANY_SOURCE, MPI_PROC_NULL
    bool has_tag = false;           //
    int tag = 0;                    // may be MPI_ANY_TAG
    bool has_comm = false;          //
    MPI_Comm comm = MPI_COMM_NULL;
};

// "from rank 3, tag 7, MPI_COMM_WORLD". Calls nothing of MPI's: from any thread, at any time.
void describe(const call_facts &facts, char *text, std::size_t size) noexcept;

// "from rank 3"; or "in MPI_Barrier", if there is no peer.
class text_buffer;
void append_peer(text_buffer &to, const call_facts &facts) noexcept;

} // namespace fult::mpi
