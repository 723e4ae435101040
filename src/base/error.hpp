#pragma once
// What went wrong, in a form that one table maps to HTTP status, exit code and requeue policy.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"

namespace tundish {

/// Closed set of reasons. Stored and sent by name; the order is part of no format.
enum class Code {
  invalid,      ///< the input itself is wrong
  not_found,    ///< no such object, or not yours
  conflict,     ///< the object changed, or another state excludes this
  denied,       ///< identity or authority does not allow it
  exhausted,    ///< quota, pool or fleet has not enough
  unavailable,  ///< a part that is needed does not answer; try again
  timeout,      ///< the deadline passed; it may have happened
  unsupported,  ///< this driver or machine cannot do it
  corrupt,      ///< stored or received data breaks its own rules
  internal      ///< a fault of ours
};

std::string_view code_name(Code code);

struct Error {
  Code code = Code::internal;
  std::string what;    ///< names the object and the fault; no trailing period
  std::string object;  ///< kind/name of the object it is about, when there is one
  std::string remedy;  ///< what the reader can do; empty when nothing helps
  std::vector<std::string> context;
  std::optional<Duration> retry_after;

  Error&& with_remedy(std::string text) &&;
  Error&& about(std::string object_name) &&;
  Error&& wrap(std::string outer) &&;
  /// "outer: what (remedy)" for people.
  std::string message() const;
};

Error make_error(Code code, std::string what);

}  // namespace tundish
