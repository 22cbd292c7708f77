// Loaded by LD_AUDIT into every process that fult-omp starts: the loader asks it where a library is to be
// found, before DT_RPATH, LD_LIBRARY_PATH and all else, and gets FULT's file for each name of the compilers'
// OpenMP libraries. A process that asks for none of them loads none. man 7 rtld-audit.
//
// Nothing is linked to it but the loader itself: the loader keeps such objects apart from the program's, and
// a second C library there would cost each process time, and misleads valgrind. So each function that is
// needed is here.
#include <link.h>

#define FULT_FOR_LOADER extern "C" [[gnu::visibility("default")]]

namespace {

// Before glibc 2.35, each call between libraries went through the loader for as long as an object like this
// one was there.
constexpr unsigned first_fast_interface = 2;

// glibc's PATH_MAX, of linux/limits.h.
constexpr int longest_path = 4096;

const char *after_last_slash(const char *path) noexcept {
    const char *name = path;
    for (; *path; ++path)
        if (*path == '/')
            name = path + 1;
    return name;
}

// The rest of a text that begins with this; null if it does not.
const char *after(const char *text, const char *beginning) noexcept {
    for (; *beginning; ++beginning, ++text)
        if (*text != *beginning)
            return nullptr;
    return text;
}

bool contains(const char *text, const char *part) noexcept {
    for (; *text; ++text)
        if (after(text, part))
            return true;
    return false;
}

// Also the names that tools which pack libraries make of it: libgomp-a34b3233.so.1.0.0. But not those of
// other libraries, as libgomp-plugin-nvptx.so.1, libomptarget.so.
bool is_version_of(const char *name, const char *library) noexcept {
    const char *const rest = after(name, library);
    return rest && (*rest == '.' || *rest == '-') && !after(rest, "-plugin") && contains(rest, ".so");
}

// This object's own file, as the loader has found it.
const char *own_path() noexcept {
    if (_r_debug.r_version < 2)
        return nullptr;
    const auto *space = reinterpret_cast<const r_debug_extended *>(&_r_debug);
    for (; space; space = space->r_next)
        for (const link_map *each = space->base.r_map; each; each = each->l_next)
            if (each->l_ld == _DYNAMIC)
                return each->l_name;
    return nullptr;
}

struct path {
    char text[longest_path];

    // A file beside this object; false if the loader does not show where that is.
    bool set(const char *name) noexcept {
        const char *const own = own_path();
        if (!own)
            return false;
        int size = 0;
        for (const char *p = own, *const end = after_last_slash(own); p != end; ++p)
            if (!add(size, *p))
                return false;
        for (; *name; ++name)
            if (!add(size, *name))
                return false;
        text[size] = '\0';
        return true;
    }

  private:
    bool add(int &size, char c) noexcept {
        if (size == longest_path - 1)
            return false;
        text[size++] = c;
        return true;
    }
};

// The loader reads the text after the call, and holds its lock meanwhile.
path found;

bool equals(const char *a, const char *b) noexcept {
    const char *const rest = after(a, b);
    return rest && !*rest;
}

// In the requesting object's namespace.
bool is_loaded(const char *file, const link_map *requester) noexcept {
    while (requester->l_prev)
        requester = requester->l_prev;
    for (; requester; requester = requester->l_next)
        if (equals(requester->l_name, file))
            return true;
    return false;
}

// It is linked to the library by this name; otherwise it asks by dlopen.
bool needs(const link_map *requester, const char *name) noexcept {
    const char *texts = nullptr;
    for (const ElfW(Dyn) *each = requester->l_ld; each && each->d_tag != DT_NULL; ++each)
        if (each->d_tag == DT_STRTAB) // an address, or, where the section cannot be written, an offset
            texts = reinterpret_cast<const char *>(each->d_un.d_ptr < requester->l_addr
                                                       ? requester->l_addr + each->d_un.d_ptr
                                                       : each->d_un.d_ptr);
    for (const ElfW(Dyn) *each = requester->l_ld; texts && each->d_tag != DT_NULL; ++each)
        if (each->d_tag == DT_NEEDED && equals(texts + each->d_un.d_val, name))
            return true;
    return false;
}

// Whether the loader is to open found at this stage. It must be able to recognize the object by the name in
// DT_NEEDED when it compares versions. It keeps the name for which we gave it another one only if that file
// is new to it. If it has the file already, it continues by the name, which is the object's own or
// leads to a folder, where it gets the file again.
bool answers(const char *name, const link_map *requester, unsigned stage) noexcept {
    if (stage != LA_SER_ORIG || !is_loaded(found.text, requester))
        return true;
    return after_last_slash(name) != name && !needs(requester, name);
}

} // namespace

FULT_FOR_LOADER unsigned la_version(unsigned version) {
    return version < first_fast_interface ? 0 : version; // 0: the loader goes on without this object
}

FULT_FOR_LOADER char *la_objsearch(const char *name, uintptr_t *cookie, unsigned stage) {
    const char *const file = after_last_slash(name);
    const char *const ours = is_version_of(file, "libgomp")  ? "libgomp.so.1"
                             : is_version_of(file, "libomp") ? "libomp.so.5"
                                                             : nullptr;
    // The loader makes a cookie the address of the requesting object's entry.
    if (ours && found.set(ours) && answers(name, reinterpret_cast<const link_map *>(*cookie), stage))
        return found.text;
    return const_cast<char *>(name);
}
