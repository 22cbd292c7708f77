/// @file
/// Tasks at other ranks: spawn_at starts one there and returns a handle; spawn_detached_at, the active
/// message of PPL (section 2.2), starts one without. Only values travel: the function is identified by its
/// name.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <fult/detail/mistake.hpp>
#include <fult/global/memory.hpp>

namespace fult::global {

/// A task that was started at another rank has ended with an exception there, or its function does not exist
/// there.
class FULT_API remote_error : public std::runtime_error {
  public:
    /// Called by the library.
    remote_error(int rank, const std::string &text) : std::runtime_error(text), rank_(rank) {}
    ~remote_error() override;
    /// Where it has failed.
    int rank() const noexcept { return rank_; }

  private:
    int rank_;
};

/// @cond internal
namespace detail {

// A function with the types of its arguments, as other ranks know it. Addresses differ between ranks, names
// of types do not: each program registers, before main, the functions that it passes to spawn_at anywhere.
struct remote_function {
    const char *name;              // of the type that represents it, mangled
    std::uint64_t hash;            // of the name
    std::size_t arguments, result; // sizes in bytes
    void (*run)(memory &in, const std::byte *arguments, std::byte *result);
};
// Returns the hash, which is what travels. A second function of that name makes both ambiguous.
FULT_API std::uint64_t register_function(const remote_function &made);

struct remote_reply;

// The reply to a task that was started at another rank: of one that is joined, or detached.
class FULT_API reply_owner {
  public:
    reply_owner() noexcept = default;
    explicit reply_owner(remote_reply *reply) noexcept : reply_(reply) {}
    reply_owner(reply_owner &&other) noexcept : reply_(std::exchange(other.reply_, nullptr)) {}
    reply_owner &operator=(reply_owner &&other) noexcept {
        if (this != &other) {
            detach_if_owned();
            reply_ = std::exchange(other.reply_, nullptr);
        }
        return *this;
    }
    ~reply_owner() { detach_if_owned(); }

    [[nodiscard]] bool valid() const noexcept { return reply_ != nullptr; }
    [[nodiscard]] bool done() const noexcept;
    void detach(const char *call) noexcept;
    // Waits, stores the result, and is empty afterwards.
    void join(void *result, std::size_t size);

  private:
    void detach_if_owned() noexcept;
    remote_reply *reply_ = nullptr;
};

FULT_API reply_owner start_at(memory &in, int rank, std::uint64_t function, const void *arguments,
                              std::size_t size, std::size_t result);
FULT_API void spawn_detached_at(memory &in, int rank, std::uint64_t function, const void *arguments,
                                std::size_t size);

// Arguments are packed without gaps, in order.
template <class... Args> inline constexpr std::size_t size_of_all = (sizeof(Args) + ... + 0);
template <class... Args> void pack(std::byte *to, const Args &...args) noexcept {
    ((std::memcpy(to, &args, sizeof args), to += sizeof args), ...);
}
template <class T> T unpack(const std::byte *&from) noexcept {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from, sizeof(T));
    from += sizeof(T);
    return std::bit_cast<T>(bytes);
}

// F is a callable without state: a constant_function, or the type of a lambda that captures nothing.
template <auto Function> struct constant_function {
    template <class... Args>
    requires std::is_invocable_v<decltype(Function), Args...>
    decltype(auto) operator()(Args &&...args) const {
        return std::invoke(Function, std::forward<Args>(args)...);
    }
};

template <class F, class... Args> decltype(auto) call_function(memory &in, Args... args) {
    if constexpr (std::is_invocable_v<F, memory &, Args...>)
        return F()(in, std::move(args)...);
    else
        return F()(std::move(args)...);
}

template <class F, class... Args> struct remote_call {
    static constexpr bool with_memory = std::is_invocable_v<F, memory &, Args...>;
    static_assert(with_memory || std::is_invocable_v<F, Args...>,
                  "fult::global: the function is not callable with these arguments, nor with a memory & "
                  "before them");
    static_assert(
        ((std::is_trivially_copyable_v<Args> && !std::is_pointer_v<Args>)&&...),
        "fult::global: the arguments of a task at another rank are copied as bytes: their types must "
        "be trivially copyable and no pointers; pass a global_ptr, or send the data in a message");
    using result = decltype(call_function<F, Args...>(std::declval<memory &>(), std::declval<Args>()...));
    static_assert(std::is_void_v<result> || (std::is_trivially_copyable_v<result> &&
                                             !std::is_reference_v<result> && !std::is_pointer_v<result>),
                  "fult::global: the result of a task at another rank is copied as bytes: its type must be "
                  "void, or trivially copyable and no pointer");

    static void run(memory &in, [[maybe_unused]] const std::byte *arguments,
                    [[maybe_unused]] std::byte *into) {
        std::tuple<Args...> args{unpack<Args>(arguments)...}; // in order, by the braces
        const auto call = [&in](Args... each) -> decltype(auto) { return call_function<F>(in, each...); };
        if constexpr (std::is_void_v<result>) {
            std::apply(call, args);
        } else {
            const result value = std::apply(call, args);
            std::memcpy(into, &value, sizeof value);
        }
    }
    static constexpr std::size_t result_size() noexcept {
        if constexpr (std::is_void_v<result>)
            return 0;
        else
            return sizeof(result);
    }
    // Registered before main, in each program that has it.
    static inline const std::uint64_t id = register_function(
        {typeid(remote_call).name(), 0, size_of_all<Args...>, result_size(), &remote_call::run});
};

template <class F>
inline constexpr bool is_stateless = std::is_empty_v<F> &&std::is_default_constructible_v<F>;
template <class F> constexpr void check_function() noexcept {
    static_assert(
        is_stateless<F>,
        "fult::global: a function for another rank has no state: a lambda that captures nothing, or "
        "spawn_at<function>(memory, rank, arguments...); pass its data as arguments");
}

} // namespace detail
/// @endcond

/// Owns a task at another rank, whose function returns R. Movable; for one task at a time. Destroyed before
/// the memory; its destructor detaches.
template <class R> class remote_task {
  public:
    remote_task() noexcept = default; ///< owns nothing
    /// @cond internal
    explicit remote_task(detail::reply_owner reply) noexcept : reply_(std::move(reply)) {}
    /// @endcond
    /// True if it owns a task to join.
    [[nodiscard]] bool valid() const noexcept { return reply_.valid(); }
    /// True if join returns at once. Does not suspend.
    [[nodiscard]] bool done() const noexcept { return reply_.done(); }

    /// Waits for the end of the task and returns its result. Throws remote_error, with the text of the
    /// exception that has left the function, or if the rank does not have the function; comm::error if the
    /// rank has ended. The handle is empty afterwards. May suspend.
    R join() {
        if constexpr (std::is_void_v<R>) {
            reply_.join(nullptr, 0);
        } else {
            std::array<std::byte, sizeof(R)> bytes;
            reply_.join(bytes.data(), sizeof(R));
            return std::bit_cast<R>(bytes);
        }
    }
    /// Gives up the task: its result is dropped, and an error of it ends the program. Does not suspend.
    void detach() noexcept { reply_.detach("global::remote_task::detach"); }

  private:
    detail::reply_owner reply_;
};

/// Starts a task at a rank of the memory, this one included, that calls `f(args...)`, or
/// `f(memory, args...)` if it can be called so, with that rank's memory. `f` is a lambda without captures;
/// the arguments and the result are trivially copyable and no pointers: global_ptr, vector_layout and other
/// values. All ranks run the same program, or one that has the same function. Functions of unnamed namespaces
/// in different sources that have the same name are refused: std::logic_error. May suspend while there is no
/// room for the message. Throws std::out_of_range if there is no such rank, comm::error, std::bad_alloc.
template <class F, class... Args>
[[nodiscard]] auto spawn_at(memory &in, int rank, const F &, const Args &...args) {
    detail::check_function<F>();
    if constexpr (detail::is_stateless<F>) {
        using call = detail::remote_call<F, std::decay_t<Args>...>;
        std::array<std::byte, detail::size_of_all<std::decay_t<Args>...> + 1> packed;
        detail::pack<std::decay_t<Args>...>(packed.data(), args...);
        return remote_task<typename call::result>(
            detail::start_at(in, rank, call::id, packed.data(), packed.size() - 1, call::result_size()));
    } else {
        return remote_task<void>();
    }
}
/// The same for a function: `spawn_at<function>(memory, rank, arguments...)`.
template <auto Function, class... Args>
[[nodiscard]] auto spawn_at(memory &in, int rank, const Args &...args) {
    return spawn_at(in, rank, detail::constant_function<Function>(), args...);
}

/// Like spawn_at, without a handle and a reply: the active message of PPL. Returns when the message has left.
/// An exception that leaves the function ends the program there, as does a function that it does not have.
template <class F, class... Args>
void spawn_detached_at(memory &in, int rank, const F &, const Args &...args) {
    detail::check_function<F>();
    if constexpr (detail::is_stateless<F>) {
        using call = detail::remote_call<F, std::decay_t<Args>...>;
        std::array<std::byte, detail::size_of_all<std::decay_t<Args>...> + 1> packed;
        detail::pack<std::decay_t<Args>...>(packed.data(), args...);
        detail::spawn_detached_at(in, rank, call::id, packed.data(), packed.size() - 1);
    }
}
/// The same for a function.
template <auto Function, class... Args> void spawn_detached_at(memory &in, int rank, const Args &...args) {
    spawn_detached_at(in, rank, detail::constant_function<Function>(), args...);
}

} // namespace fult::global
