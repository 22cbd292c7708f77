/// @file
/// Global memory: a heap on each rank, which the tasks of all ranks access by global pointers. An access
/// within a host is a copy. A task that accesses the heap of a rank of another host suspends alone, so many
/// of them hide the latency. Source: section 2 of PPL, "An asynchronous runtime system using RDMA and
/// lightweight tasks".
#pragma once

#include <fult/detail/language.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

#include <fult/comm/completion.hpp>
#include <fult/comm/endpoint.hpp>
#include <fult/comm/request.hpp>
#include <fult/detail/platform.hpp>
#include <fult/global/errors.hpp>
#include <fult/global/pointer.hpp>

namespace fult::global {

/// @cond internal
namespace detail {

struct memory_state;

enum class atomic_operation : std::uint8_t { add, compare_exchange };
enum class atomic_type : std::uint8_t { bits8, bits16, bits32, bits64, float32, float64 };

template <class T> constexpr atomic_type bits_of() noexcept {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "fult::global: atomic operations are on objects of 1, 2, 4 or 8 bytes");
    return sizeof(T) == 1   ? atomic_type::bits8
           : sizeof(T) == 2 ? atomic_type::bits16
           : sizeof(T) == 4 ? atomic_type::bits32
                            : atomic_type::bits64;
}
// Unsigned and signed integers add alike.
template <class T> constexpr atomic_type number_of() noexcept {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>,
                  "fult::global: fetch_add is on integers, float and double; use compare_exchange");
    if constexpr (std::is_same_v<T, float>)
        return atomic_type::float32;
    else if constexpr (std::is_same_v<T, double>)
        return atomic_type::float64;
    else
        return bits_of<T>();
}
template <class T> std::uint64_t word_of(const T &value) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return word;
}
template <class T> T value_of(std::uint64_t word) noexcept {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), &word, sizeof(T));
    return std::bit_cast<T>(bytes);
}

// Pieces of one size, at places that a function names: those of a strided access, or of a list.
struct pieces {
    place (*at)(const void *of, std::size_t index) noexcept;
    const void *of;
    std::size_t count; // of pieces
    std::size_t bytes; // of each
};

} // namespace detail
/// @endcond

/// Options of a global memory.
struct memory_options {
    std::size_t heap = std::size_t{64} << 20; ///< bytes of this rank's heap; the ranks' may differ
};

/// The elements of a strided access: `blocks` runs of `block_length` elements each, whose first elements are
/// `stride` elements apart.
struct strided {
    std::size_t blocks;       ///< number of runs
    std::size_t block_length; ///< of each, in elements
    std::ptrdiff_t stride;    ///< between the begins of two runs, in elements
};

/// @cond internal
namespace detail {
template <class T> struct strided_places {
    global_ptr<T> first;
    strided which;
    detail::pieces pieces() const noexcept {
        return {[](const void *of, std::size_t index) noexcept {
                    const auto &self = *static_cast<const strided_places *>(of);
                    return (self.first + static_cast<std::ptrdiff_t>(index) * self.which.stride).where();
                },
                this, which.blocks, which.block_length * sizeof(T)};
    }
};
} // namespace detail
/// @endcond

/// A contiguous range of global pointers.
template <class R>
concept pointer_list = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::same_as<std::ranges::range_value_t<R>,
                 global_ptr<typename std::ranges::range_value_t<R>::element_type>>;
/// What the pointers of a list point to.
template <class R> using pointee = std::remove_const_t<typename std::ranges::range_value_t<R>::element_type>;

/// A heap on each rank of an endpoint. Created and destroyed by all of them (collective), by a task; each may
/// have several. All other calls are legal from any task on any worker and from foreign threads, which block.
///
/// Types of objects must be trivially copyable: others do not compile. An access of the own heap is a copy
/// and does not suspend. One of the heap of another rank of this host is a copy, too, where the ranks share
/// memory; every 256th of a worker lets other tasks run, so a task may poll. One of a rank of another host
/// suspends the task until the bytes have moved. iget, iput and put_signal are carried out by the owner in
/// all cases. A handler of messages must not access the heap of another rank. Concurrent
/// accesses of an object, one of them a put, are races unless all are atomic: fetch_add and compare_exchange
/// on any rank, and std::atomic_ref on the owner. An access is complete when it returns (puts too: the bytes
/// are in the owner's heap).
///
/// Errors of all accesses: std::out_of_range for a null pointer and for bytes outside the owner's heap;
/// comm::error peer_failed if the owner has ended, peer_left or refused if its memory has.
class FULT_API memory {
  public:
    /// Throws std::length_error on all ranks if a heap is larger than 8 TiB or there are more than 2^20
    /// ranks; std::bad_alloc if a heap, on any rank, cannot be allocated; comm::error. May suspend. No other
    /// subset of `ep` with all its ranks is made meanwhile.
    explicit memory(comm::endpoint &ep, const memory_options &settings = {});
    memory(const memory &) = delete;
    memory &operator=(const memory &) = delete;
    /// Waits for all ranks, then ends the heaps. All objects and requests of this memory must have ended.
    ~memory();

    int rank() const noexcept; ///< of this process, from 0 on: its number in the endpoint
    int size() const noexcept; ///< number of ranks

    /// `count` objects in the own heap, consecutive; their values are unspecified. Freed memory is used
    /// again. Throws heap_exhausted, std::bad_alloc. Never suspends.
    template <class T> global_ptr<T> allocate(std::size_t count = 1) {
        detail::check_element<T>();
        return global_ptr<T>(allocate_bytes(bytes_of<T>(count), alignof(T)));
    }
    /// Frees what allocate returned, on the rank that called it. Throws std::invalid_argument for another
    /// pointer, null aside, which is ignored; std::bad_alloc, and then it is not freed. Never suspends.
    template <class T> void deallocate(global_ptr<T> objects) { deallocate_bytes(objects.where()); }

    /// The address of `count` objects of the own heap. Throws std::invalid_argument for those of another
    /// rank. Never suspends.
    template <class T> T *local(global_ptr<T> objects, std::size_t count = 1) const {
        detail::check_element<T>();
        return static_cast<T *>(local_bytes(objects.where(), bytes_of<T>(count)));
    }

    std::uint64_t heap_size(int rank) const; ///< in bytes. Throws std::out_of_range
    std::uint64_t heap_in_use() const;       ///< bytes of the own heap that are allocated
    std::uint64_t heap_largest_free() const; ///< the largest object that the own heap has room for

    /// Reads an object. May suspend.
    template <class T> std::remove_const_t<T> get(global_ptr<T> from) {
        detail::check_element<T>();
        std::array<std::byte, sizeof(T)> bytes;
        read("get", from.where(), bytes.data(), sizeof(T));
        return std::bit_cast<std::remove_const_t<T>>(bytes);
    }
    /// Reads consecutive objects. May suspend.
    template <class T> void get(global_ptr<T> from, std::span<std::remove_const_t<T>> to) {
        detail::check_element<T>();
        read("get", from.where(), to.data(), to.size_bytes());
    }
    /// Writes an object. May suspend.
    template <class T> void put(global_ptr<T> to, const std::type_identity_t<T> &value) {
        detail::check_element<T>();
        write("put", to.where(), &value, sizeof(T));
    }
    /// Writes consecutive objects. May suspend.
    template <class T> void put(global_ptr<T> to, std::span<const std::type_identity_t<T>> values) {
        detail::check_element<T>();
        write("put", to.where(), values.data(), values.size_bytes());
    }

    /// Start a get or a put of consecutive objects; the caller's memory is in use until the request is
    /// complete. Never suspend.
    template <class T>
    [[nodiscard]] comm::request iget(global_ptr<T> from, std::span<std::remove_const_t<T>> to) {
        detail::check_element<T>();
        return start_read(from.where(), to.data(), to.size_bytes());
    }
    /// See iget.
    template <class T>
    [[nodiscard]] comm::request iput(global_ptr<T> to, std::span<const std::type_identity_t<T>> values) {
        detail::check_element<T>();
        return start_write(to.where(), values.data(), values.size_bytes());
    }
    /// The same; `object` is notified in place of a request, with `user_data`.
    template <class T>
    void iget(global_ptr<T> from, std::span<std::remove_const_t<T>> to, comm::completion &object,
              std::uint64_t user_data = 0) {
        detail::check_element<T>();
        start_read(from.where(), to.data(), to.size_bytes(), object, user_data);
    }
    /// See iget.
    template <class T>
    void iput(global_ptr<T> to, std::span<const std::type_identity_t<T>> values, comm::completion &object,
              std::uint64_t user_data = 0) {
        detail::check_element<T>();
        start_write(to.where(), values.data(), values.size_bytes(), object, user_data);
    }

    /// Writes consecutive objects; then an empty message with that tag arrives at the owner's endpoint `ep`,
    /// which has the owner among its ranks, as of comm::put_signal. May suspend.
    template <class T>
    void put_signal(global_ptr<T> to, std::span<const std::type_identity_t<T>> values, comm::endpoint &ep,
                    comm::tag_type tag) {
        detail::check_element<T>();
        write_and_signal(to.where(), values.data(), values.size_bytes(), ep, tag);
    }

    /// Reads strided objects, in order, into `to`, which has room for `which.blocks * which.block_length` of
    /// them exactly (std::invalid_argument). All runs that take time are under way at once. May suspend.
    template <class T>
    void get(global_ptr<T> from, const strided &which, std::span<std::remove_const_t<T>> to) {
        detail::check_element<T>();
        const detail::strided_places<T> places{from, which};
        read_pieces("get", places.pieces(), to.data(), to.size_bytes());
    }
    /// Writes strided objects. See the strided get.
    template <class T>
    void put(global_ptr<T> to, const strided &which, std::span<const std::type_identity_t<T>> values) {
        detail::check_element<T>();
        const detail::strided_places<T> places{to, which};
        write_pieces("put", places.pieces(), values.data(), values.size_bytes());
    }
    /// Reads objects at any places, on any ranks: to[i] is that of from[i]. Those that take time are all
    /// under way at once, and the task waits once. The sizes are equal (std::invalid_argument). May suspend.
    template <pointer_list List> void gather(const List &from, std::span<pointee<List>> to) {
        detail::check_element<pointee<List>>();
        read_pieces("gather", listed(from), to.data(), to.size_bytes());
    }
    /// Writes objects at any places. See gather.
    template <pointer_list List> void scatter(const List &to, std::span<const pointee<List>> values) {
        detail::check_element<pointee<List>>();
        write_pieces("scatter", listed(to), values.data(), values.size_bytes());
    }

    /// Adds to a number and returns its value before. Atomic with all atomic operations on any rank. Throws
    /// std::invalid_argument if the object's offset is no multiple of its size. May suspend.
    template <class T> T fetch_add(global_ptr<T> at, std::type_identity_t<T> value) {
        return detail::value_of<T>(change(detail::atomic_operation::add, detail::number_of<T>(), at.where(),
                                          detail::word_of(value), 0));
    }
    /// Writes `desired` if the object's bytes are those of `expected`, and returns true; else `expected`
    /// becomes its value. Of 1, 2, 4 or 8 bytes, global pointers included. Otherwise like fetch_add.
    template <class T>
    bool compare_exchange(global_ptr<T> at, std::type_identity_t<T> &expected,
                          const std::type_identity_t<T> &desired) {
        detail::check_element<T>();
        const std::uint64_t wanted = detail::word_of(expected);
        const std::uint64_t before = change(detail::atomic_operation::compare_exchange, detail::bits_of<T>(),
                                            at.where(), detail::word_of(desired), wanted);
        if (before == wanted)
            return true;
        expected = detail::value_of<T>(before);
        return false;
    }

    /// Returns when every rank has called it; then all see what was put before. Collective. May suspend.
    void barrier();

    /// @cond internal
    // Memory at the same offset on all ranks. Collective; throws on all ranks if one has no room.
    std::uint64_t allocate_symmetric(std::uint64_t bytes, std::size_t alignment);
    void deallocate_symmetric(std::uint64_t offset);
    void read(const char *call, detail::place from, void *to, std::size_t bytes);
    void write(const char *call, detail::place to, const void *from, std::size_t bytes);
    void *local_bytes(detail::place where, std::uint64_t bytes) const;
    detail::memory_state &state() noexcept { return *state_; }
    template <class T> static std::uint64_t bytes_of(std::size_t count) noexcept {
        std::uint64_t bytes = 0;
        return __builtin_mul_overflow(count, sizeof(T), &bytes) ? ~std::uint64_t{0} : bytes;
    }
    /// @endcond

  private:
    template <class List> static detail::pieces listed(const List &list) noexcept {
        return {[](const void *of, std::size_t index) noexcept {
                    return static_cast<const std::ranges::range_value_t<List> *>(of)[index].where();
                },
                std::ranges::data(list), std::ranges::size(list), sizeof(pointee<List>)};
    }

    detail::place allocate_bytes(std::uint64_t bytes, std::size_t alignment);
    void deallocate_bytes(detail::place objects);
    comm::request start_read(detail::place from, void *to, std::size_t bytes);
    comm::request start_write(detail::place to, const void *from, std::size_t bytes);
    void start_read(detail::place from, void *to, std::size_t bytes, comm::completion &object,
                    std::uint64_t user_data);
    void start_write(detail::place to, const void *from, std::size_t bytes, comm::completion &object,
                     std::uint64_t user_data);
    void write_and_signal(detail::place to, const void *from, std::size_t bytes, comm::endpoint &ep,
                          comm::tag_type tag);
    void read_pieces(const char *call, const detail::pieces &from, void *to, std::size_t bytes);
    void write_pieces(const char *call, const detail::pieces &to, const void *from, std::size_t bytes);
    std::uint64_t change(detail::atomic_operation operation, detail::atomic_type type, detail::place at,
                         std::uint64_t operand, std::uint64_t expected);

    std::unique_ptr<detail::memory_state> state_;
};

} // namespace fult::global
