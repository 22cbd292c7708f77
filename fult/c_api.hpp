// What the parts of the C interface share.
#pragma once

#include <new>
#include <stdexcept>
#include <system_error>

#include <fult/fult.h>
#include <fult/spawn.hpp>

namespace fult::detail {

// Exceptions end here: C has none.
template <class Body> int status_of(const Body &body, int logic_error_means = FULT_ERR_NO_RUNTIME) noexcept {
    try {
        body();
        return FULT_SUCCESS;
    } catch (const std::system_error &) {
        return FULT_ERR_NO_MEMORY;
    } catch (const std::bad_alloc &) {
        return FULT_ERR_NO_MEMORY;
    } catch (const std::invalid_argument &) {
        return FULT_ERR_INVALID;
    } catch (const std::out_of_range &) {
        return FULT_ERR_INVALID;
    } catch (const std::logic_error &) {
        return logic_error_means;
    }
}

inline spawn_options options_of(const fult_spawn_attr &attr) noexcept {
    return {.name = attr.name ? attr.name : "",
            .stack_size = attr.stack_size,
            .worker = attr.worker,
            .pinned = attr.pinned != 0};
}

} // namespace fult::detail
