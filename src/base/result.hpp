#pragma once
// Result<T>: a value or an Error. No exception crosses a module border.
#include <tl/expected.hpp>
#include <utility>

#include "base/error.hpp"

namespace tundish {

template <class T = void>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  Result() = default;
  Result(Error error) : Base(tl::unexpect, std::move(error)) {}  // NOLINT: TRY returns an Error
};

}  // namespace tundish

/// Unwraps a Result or returns its Error from the calling function.
#define TRY(expr)                                                  \
  __extension__({                                                  \
    auto&& try_result_ = (expr);                                   \
    if (!try_result_) return ::tundish::Error(std::move(try_result_).error()); \
    std::move(try_result_).value();                                \
  })
/// TRY for Result<void>.
#define TRY_VOID(expr)                                             \
  do {                                                             \
    auto&& try_result_ = (expr);                                   \
    if (!try_result_) return ::tundish::Error(std::move(try_result_).error()); \
  } while (false)
