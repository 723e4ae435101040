#pragma once
// Commands on devices that have no agent of ours: switches and fabric managers over SSH.
#include <functional>
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace tundish {

struct ExecRequest {
  std::string target;             ///< ssh://user@address[:port]
  std::vector<std::string> argv;  ///< quoted for the far shell by the implementation
  std::string input;              ///< standard input
};

struct ExecOutput {
  int rc = 0;
  std::string out, err;
};

/// `done` runs once, on the loop thread. A target that cannot be reached is `unavailable`, a passed
/// deadline `timeout`: it may have happened.
class Exec {
 public:
  virtual ~Exec() = default;
  using Done = std::function<void(Result<ExecOutput>)>;
  virtual void start(ExecRequest request, Duration limit, Done done) = 0;
};

}  // namespace tundish
