// Text files, with errors that name them.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "failure.hpp"

namespace apps {

struct file_closer {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using open_file = std::unique_ptr<std::FILE, file_closer>;

// `how`: "r" or "w". Throws a failure.
inline open_file open_text(const std::string &path, const char *how) {
    open_file file(std::fopen(path.c_str(), how));
    if (!file)
        throw failure(std::string("cannot ") + (*how == 'r' ? "read" : "write") + " '" + path +
                      "': " + std::strerror(errno));
    return file;
}

// To be called after the last write. Throws a failure if not all of it has been written.
inline void finish_writing(const open_file &file, const std::string &path) {
    if (std::fflush(file.get()) != 0 || std::ferror(file.get()))
        throw failure("cannot write '" + path + "': " + std::strerror(errno));
}

} // namespace apps
