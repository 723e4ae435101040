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

#define TUNDISH_JOIN_(a, b) a##b
#define TUNDISH_JOIN(a, b) TUNDISH_JOIN_(a, b)
#define TUNDISH_TRY_(expr, name)                                         \
  __extension__({                                                        \
    auto&& name = (expr);                                                \
    if (!name) return ::tundish::Error(std::move(name).error());         \
    std::move(name).value();                                             \
  })
/// Unwraps a Result or returns its Error from the calling function. May be nested.
#define TRY(expr) TUNDISH_TRY_(expr, TUNDISH_JOIN(try_result_, __COUNTER__))
/// TRY for Result<void>.
#define TRY_VOID(expr)                                                           \
  do {                                                                           \
    auto&& try_void_ = (expr);                                                   \
    if (!try_void_) return ::tundish::Error(std::move(try_void_).error());       \
  } while (false)
