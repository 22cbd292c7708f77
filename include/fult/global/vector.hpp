/// @file
/// Global vectors: arrays whose elements are distributed over the heaps of all ranks. Source: section 2.3 of
/// PPL ("gvec"): the parts of the ranks have the same offset, so each rank can compute where an element is.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <fult/detail/exceptions.hpp>
#include <fult/global/memory.hpp>

namespace fult::global {

/// How the elements of a vector are distributed: in blocks of consecutive elements, block k on rank
/// k % ranks.
struct distribution {
    std::size_t block = 0; ///< elements of a block; 0: as many as give each rank one block

    /// One block for each rank, of equal sizes but for the last ones.
    static constexpr distribution blocks() noexcept { return {}; }
    /// Blocks of that size, in turn.
    static constexpr distribution block_cyclic(std::size_t size) noexcept { return {size}; }
};

/// Where the elements of a vector are, without owning them: a plain value that may be sent in a message or
/// passed to spawn_at. All functions are constant-time and never suspend.
template <class T> class vector_layout {
  public:
    constexpr vector_layout() noexcept = default; ///< empty
    /// @cond internal
    constexpr vector_layout(std::uint64_t offset, std::size_t size, std::size_t block, int ranks) noexcept
        : offset_(offset), size_(size), block_(block), ranks_(static_cast<std::size_t>(ranks)) {}
    constexpr std::uint64_t offset() const noexcept { return offset_; }
    /// @endcond

    constexpr std::size_t size() const noexcept { return size_; }        ///< elements of all ranks
    constexpr std::size_t block_size() const noexcept { return block_; } ///< elements of a block

    /// The rank that has the element.
    constexpr int owner(std::size_t index) const noexcept {
        return static_cast<int>(index / block_ % ranks_);
    }
    /// The position of the element in its owner's part.
    constexpr std::size_t local_index(std::size_t index) const noexcept {
        return index / block_ / ranks_ * block_ + index % block_;
    }
    /// The inverse of owner and local_index.
    constexpr std::size_t global_index(int rank, std::size_t local) const noexcept {
        return (local / block_ * ranks_ + static_cast<std::size_t>(rank)) * block_ + local % block_;
    }
    /// The number of elements of a rank.
    constexpr std::size_t local_size(int rank) const noexcept {
        const std::size_t whole = size_ / block_, of = static_cast<std::size_t>(rank);
        const std::size_t in_whole = (whole / ranks_ + (of < whole % ranks_ ? 1 : 0)) * block_;
        return in_whole + (of == whole % ranks_ ? size_ % block_ : 0);
    }
    /// A pointer to the element; those of a block are consecutive.
    constexpr global_ptr<T> pointer(std::size_t index) const noexcept {
        FULT_ASSERT(index < size_, "the index of an element");
        return {owner(index), offset_ + local_index(index) * sizeof(T)};
    }
    /// The number of elements from that one on in its block.
    constexpr std::size_t block_remainder(std::size_t index) const noexcept {
        return std::min(block_ - index % block_, size_ - index);
    }

  private:
    std::uint64_t offset_ = 0; // of each rank's part
    std::size_t size_ = 0;
    std::size_t block_ = 1;
    std::size_t ranks_ = 1;
};

/// Represents an element: converts to its value, which is a get; an assignment is a put. Both may suspend.
template <class T> class element_reference {
  public:
    /// @cond internal
    element_reference(memory &in, global_ptr<T> to) noexcept : in_(&in), to_(to) {}
    /// @endcond
    element_reference(const element_reference &) noexcept = default; ///< of the same element
    operator T() const { return in_->get(to_); }                     ///< the value
    /// Writes the element.
    const element_reference &operator=(const T &value) const {
        in_->put(to_, value);
        return *this;
    }
    /// Copies another element.
    const element_reference &operator=(const element_reference &other) const {
        return *this = static_cast<T>(other);
    }
    global_ptr<T> pointer() const noexcept { return to_; } ///< to the element

  private:
    memory *in_;
    global_ptr<T> to_;
};

/// A random-access iterator over the elements of a vector, on any rank. Each access is one of global memory:
/// local() and the get and put of many elements are faster.
template <class T> class vector_iterator {
  public:
    using value_type = T;                                     ///< of an element
    using difference_type = std::ptrdiff_t;                   ///< in elements
    using reference = element_reference<T>;                   ///< of an element
    using pointer = void;                                     ///< there is none
    using iterator_category = std::input_iterator_tag;        ///< a reference is no T &
    using iterator_concept = std::random_access_iterator_tag; ///< of C++20

    vector_iterator() noexcept = default; ///< singular
    /// @cond internal
    vector_iterator(memory &in, const vector_layout<T> &of, std::size_t index) noexcept
        : in_(&in), of_(of), index_(index) {}
    /// @endcond
    reference operator*() const { return {*in_, of_.pointer(index_)}; } ///< the element
    /// Another element.
    reference operator[](difference_type count) const { return *(*this + count); }
    /// Moves by elements.
    vector_iterator &operator+=(difference_type count) noexcept {
        index_ += static_cast<std::size_t>(count);
        return *this;
    }
    vector_iterator &operator-=(difference_type count) noexcept { return *this += -count; } ///< moves back
    vector_iterator &operator++() noexcept { return *this += 1; }                           ///< moves by one
    vector_iterator &operator--() noexcept { return *this += -1; }                          ///< moves back
    /// Moves by one.
    vector_iterator operator++(int) noexcept {
        vector_iterator before = *this;
        ++*this;
        return before;
    }
    /// Moves back by one.
    vector_iterator operator--(int) noexcept {
        vector_iterator before = *this;
        --*this;
        return before;
    }
    /// An iterator that is moved.
    friend vector_iterator operator+(vector_iterator i, difference_type count) noexcept { return i += count; }
    /// An iterator that is moved.
    friend vector_iterator operator+(difference_type count, vector_iterator i) noexcept { return i += count; }
    /// An iterator that is moved.
    friend vector_iterator operator-(vector_iterator i, difference_type count) noexcept { return i -= count; }
    /// The number of elements between two.
    friend difference_type operator-(vector_iterator a, vector_iterator b) noexcept {
        return static_cast<difference_type>(a.index_) - static_cast<difference_type>(b.index_);
    }
    /// By position.
    friend bool operator==(vector_iterator a, vector_iterator b) noexcept { return a.index_ == b.index_; }
    /// By position.
    friend auto operator<=>(vector_iterator a, vector_iterator b) noexcept { return a.index_ <=> b.index_; }

  private:
    memory *in_ = nullptr;
    vector_layout<T> of_;
    std::size_t index_ = 0;
};

/// An array of T over all ranks. Made and destroyed by all of them, in the same order as other collective
/// calls of the memory, which outlives it; the elements are zero bytes at first. Other calls are those of any
/// task, with the errors of memory's accesses. An index beyond the end throws std::out_of_range.
template <class T> class global_vector {
  public:
    using value_type = T;                ///< of an element
    using iterator = vector_iterator<T>; ///< over all elements

    /// `size` elements, the same number and distribution on all ranks. Throws heap_exhausted on all ranks if
    /// one has no room. May suspend.
    global_vector(memory &in, std::size_t size, distribution shape = distribution::blocks()) : in_(&in) {
        detail::check_element<T>();
        const auto ranks = static_cast<std::size_t>(in.size());
        const std::size_t block =
            shape.block != 0 ? shape.block : std::max<std::size_t>(1, (size + ranks - 1) / ranks);
        const vector_layout<T> layout(0, size, block, in.size()); // rank 0 has the largest part
        part_ = std::max<std::size_t>(1, layout.local_size(0));
        view_ = {in.allocate_symmetric(memory::bytes_of<T>(part_), alignof(T)), size, block, in.size()};
        std::byte *const begin = static_cast<std::byte *>(in.local_bytes(here(), part_ * sizeof(T)));
        std::fill_n(begin, part_ * sizeof(T), std::byte{0});
        in.barrier(); // no rank writes before
    }
    global_vector(const global_vector &) = delete;
    global_vector &operator=(const global_vector &) = delete;
    /// The other may only be destroyed afterwards.
    global_vector(global_vector &&other) noexcept
        : in_(std::exchange(other.in_, nullptr)), view_(other.view_), part_(other.part_) {}
    /// Waits for all ranks, then frees the elements. May suspend.
    ~global_vector() {
        if (!in_)
            return;
        FULT_TRY { in_->barrier(); }
        FULT_CATCH_ALL {} // a rank that has ended accesses nothing
        in_->deallocate_symmetric(view_.offset());
    }

    std::size_t size() const noexcept { return view_.size(); } ///< elements of all ranks
    bool empty() const noexcept { return size() == 0; }        ///< true if there are none
    /// Where the elements are: a plain value.
    const vector_layout<T> &view() const noexcept { return view_; }
    /// The rank that has the element.
    int owner(std::size_t index) const { return pointer(index).rank(); }
    /// A pointer to the element.
    global_ptr<T> pointer(std::size_t index) const {
        check(index, 1);
        return view_.pointer(index);
    }

    /// The elements of this rank, in the order of their indices: the k-th has view().global_index(rank, k).
    std::span<T> local() const {
        return {static_cast<T *>(in_->local_bytes(here(), part_ * sizeof(T))), view_.local_size(in_->rank())};
    }

    /// Reads an element. May suspend.
    T get(std::size_t index) const { return in_->get(pointer(index)); }
    /// Writes an element. May suspend.
    void put(std::size_t index, const T &value) const { in_->put(pointer(index), value); }
    /// Reads consecutive elements, on any ranks. May suspend.
    void get(std::size_t first, std::span<T> to) const {
        check(first, to.size());
        for (std::size_t done = 0; done < to.size();) {
            const std::size_t count = std::min(view_.block_remainder(first + done), to.size() - done);
            in_->get(view_.pointer(first + done), to.subspan(done, count));
            done += count;
        }
    }
    /// Writes consecutive elements, on any ranks. May suspend.
    void put(std::size_t first, std::span<const T> values) const {
        check(first, values.size());
        for (std::size_t done = 0; done < values.size();) {
            const std::size_t count = std::min(view_.block_remainder(first + done), values.size() - done);
            in_->put(view_.pointer(first + done), values.subspan(done, count));
            done += count;
        }
    }

    /// Represents the element.
    element_reference<T> operator[](std::size_t index) const { return {*in_, pointer(index)}; }
    iterator begin() const noexcept { return {*in_, view_, 0}; }    ///< at the first element
    iterator end() const noexcept { return {*in_, view_, size()}; } ///< behind the last element

  private:
    detail::place here() const noexcept { return {in_->rank(), view_.offset()}; }
    void check(std::size_t first, std::size_t count) const {
        if (first > size() || count > size() - first)
            throw std::out_of_range("fult-global: global_vector: " + std::to_string(count) +
                                    " elements from index " + std::to_string(first) + " on, of " +
                                    std::to_string(size()));
    }

    memory *in_;
    vector_layout<T> view_;
    std::size_t part_ = 0; // elements that each rank has room for
};

} // namespace fult::global
