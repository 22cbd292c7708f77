// The versions of an application: each is a program of its own.
#pragma once

#include <string>

namespace apps {

enum class version { serial, tasks, processes };

// "dt" in tasks, "dt-serial" in one thread, "dt-mpi" in MPI processes.
inline std::string program_name(const std::string &application, version of) {
    switch (of) {
    case version::serial:
        return application + "-serial";
    case version::processes:
        return application + "-mpi";
    case version::tasks:
        break;
    }
    return application;
}

// What does the work, for reports.
inline const char *execution(version of) {
    switch (of) {
    case version::serial:
        return "one thread";
    case version::processes:
        return "MPI processes";
    case version::tasks:
        break;
    }
    return "FULT tasks";
}

} // namespace apps
