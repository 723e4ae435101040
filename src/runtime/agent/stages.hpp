#pragma once
// Parts of setting up that nodes and controllers share.
#include <chrono>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/verbs.hpp"

namespace tundish::agent {

/// Measures the stages of an act, so that its result says where the time went.
class Stages {
 public:
  template <class Work>
  Result<> run(const std::string& name, Work work) {
    const auto start = std::chrono::steady_clock::now();
    Result<> done = work();
    const auto took = std::chrono::steady_clock::now() - start;
    times_.push_back(
        name + " " +
        std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()) +
        " ms");
    if (!done) return Error(std::move(done).error()).wrap(name);
    return {};
  }
  std::string render() const;

 private:
  std::vector<std::string> times_;
};

enum class Others { flush, keep };
struct AddressPlan {
  std::string interface;
  std::string address;
  int prefix_length = 24;
  Others others = Others::flush;
  std::string network = {};  ///< network namespace that holds the port; empty: the node's own
  std::string beside = {};   ///< one other address, with length, that may stay
};
/// Nothing is touched when the port has the address already, so that a repeat cuts no connection.
Result<> apply_address(const AddressPlan& plan, Duration limit);
/// The one address; others on the port stay. Done when it is not there.
Result<> remove_address(const AddressPlan& plan, Duration limit);
/// Lines for /etc/hosts.
std::string render_names(const std::vector<HostEntry>& entries);

}  // namespace tundish::agent
