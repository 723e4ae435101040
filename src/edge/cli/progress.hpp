#pragma once
// A sign of life while one call to the API takes longer than a person waits without asking.
#include <functional>
#include <optional>
#include <string>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace tundish::edge::cli {

class Context;

/// Tells "WHAT, 10 s" on standard error every `every`, until `call` comes back.
Result<std::optional<std::string>> with_progress(
    Context& context, const std::string& what,
    const std::function<Result<std::optional<std::string>>()>& call, Duration every = seconds(6));

}  // namespace tundish::edge::cli
