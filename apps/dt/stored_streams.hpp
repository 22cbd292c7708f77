// Streams of nodes that run one after the other: each is complete before it is received.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "features.hpp"

namespace dt {

class stored_streams {
  public:
    explicit stored_streams(std::size_t arcs) : stored_(arcs) {}

    // Each stream is received once.
    features receive(int arc) {
        features stream = std::exchange(stored_.at(std::size_t(arc)), {});
        if (stream.empty())
            throw std::logic_error("arc " + std::to_string(arc) + " carries nothing yet");
        return stream;
    }
    void send(int arc, const features &stream) { stored_.at(std::size_t(arc)) = stream; }

  private:
    std::vector<features> stored_; // of each arc
};

} // namespace dt
