#pragma once
#include <compare>
#include <string>

namespace tundish {

/// Name of one object of kind `T`. No implicit conversion to text and no arithmetic, so ids of
/// different kinds cannot be mixed up.
template <class T>
class Id {
 public:
  Id() = default;
  explicit Id(std::string text) : text_(std::move(text)) {}
  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  auto operator<=>(const Id&) const = default;

  std::string& raw() { return text_; }  ///< for codecs only

 private:
  std::string text_;
};

}  // namespace tundish
