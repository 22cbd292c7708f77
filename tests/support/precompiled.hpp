// What nearly every test includes, compiled once. Each test names its own headers all the same.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fult/fult.hpp>
#include <fult/loops.hpp>
#include <fult/sync.hpp>
