#pragma once
// JSON in and out of described objects. The caller bounds the size of what it hands in; depth is
// bounded here (64).
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/describe.hpp"
#include "base/result.hpp"

namespace tundish {

/// What happens to a field that the description does not have.
enum class Unknown {
  refuse,   ///< people and scripts: a typing error must not be silent
  keep_out  ///< storage and watch decoding: a newer version may have written it
};

/// One line when `indent` is below zero. An absent optional is null; an Instant is RFC 3339 with
/// microseconds, "" when not set; a Duration is microseconds. Invalid UTF-8 becomes U+FFFD.
std::string render_json(AnyDescribed object, int indent = -1);
template <Described T>
std::string render_json(const T& object, int indent = -1) {
  return render_json(describe_const(object), indent);
}
std::string render_json_list(const std::vector<AnyDescribed>& objects, int indent = -1);

/// Missing fields keep the value they have; null clears an optional; a list or map that is given
/// replaces the old one. On an error `into` is unchanged. With keep_out, `kept` receives the
/// unknown members as a JSON object for merge_json ("" when there are none): those of the object
/// and of structs inside it, not those inside list items and map values. A word that an enum does
/// not have is then read as "unknown", or leaves the field as it is, and is kept likewise.
Result<> parse_json(std::string_view text, AnyDescribed into, Unknown unknown = Unknown::refuse,
                    std::string* kept = nullptr);

/// `object` plus the members of `kept` that it lacks, at any depth of objects. `object` is
/// returned as it is when there is nothing to add or either text is not a JSON object.
std::string merge_json(std::string_view object, std::string_view kept);

struct TreeNode;

/// Read-only JSON without a description, for what others send. Copies are cheap; a value found
/// inside another keeps the whole document alive.
class JsonValue {
 public:
  enum class Kind { absent, null, flag, integer, real, text, list, object };

  JsonValue() = default;
  static Result<JsonValue> parse(std::string_view text);

  Kind kind() const;
  /// Absent, and at() and as_ of absent are absent too, so that lookups chain.
  bool is_absent() const { return node_ == nullptr; }
  JsonValue at(std::string_view key) const;
  JsonValue at(std::size_t index) const;
  /// Items of a list or values of an object; 0 for anything else.
  std::size_t size() const;
  std::vector<JsonValue> items() const;
  std::vector<std::pair<std::string, JsonValue>> members() const;
  std::optional<std::string> as_text() const;
  std::optional<std::int64_t> as_integer() const;
  std::optional<bool> as_flag() const;
  /// Also of an integer.
  std::optional<double> as_real() const;
  /// Back to JSON; "" when absent.
  std::string render(int indent = -1) const;

 private:
  JsonValue(std::shared_ptr<const TreeNode> root, const TreeNode* node)
      : root_(std::move(root)), node_(node) {}

  std::shared_ptr<const TreeNode> root_;
  const TreeNode* node_ = nullptr;
};

}  // namespace tundish
