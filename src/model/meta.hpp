#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/describe.hpp"
#include "base/id.hpp"
#include "base/result.hpp"

namespace tundish {

struct Tenant;

/// What every object carries besides its spec (desired) and status (observed).
struct Meta {
  std::string name;           ///< unique per tenant and kind; every path takes it or the id
  Id<Tenant> tenant;          ///< empty: belongs to the operator
  std::int64_t version = 1;   ///< generation of spec
  std::int64_t revision = 0;  ///< global revision of the last write
  Instant created_at;

  void fields(Fields& f) {
    f(1, "name", name, "unique per tenant; every path takes the name or the id");
    f(2, "tenant", tenant, "owner; empty for the operator's own objects");
    f(3, "version", version, "generation of spec; external writes carry it as their fence");
    f(4, "revision", revision, "global revision of the last write; the token that 409 compares");
    f(5, "created_at", created_at, "when the object was admitted");
  }
};

/// A stored object without its type.
class ObjectBase {
 public:
  virtual ~ObjectBase() = default;
  virtual std::string_view kind() const = 0;
  virtual const std::string& id() const = 0;
  virtual const Meta& meta() const = 0;
  virtual void fields(Fields& f) = 0;
};

template <class T>
class Holder final : public ObjectBase {
 public:
  explicit Holder(T v = {}) : value(std::move(v)) {}
  std::string_view kind() const override { return T::kind; }
  const std::string& id() const override { return value.id.str(); }
  const Meta& meta() const override { return value.meta; }
  void fields(Fields& f) override { value.fields(f); }
  T value;
};

/// An empty object of a kind, for decoding; nullptr for a kind that this version does not know.
std::unique_ptr<ObjectBase> make_object(std::string_view kind);

/// A property that holds or not, with reason: drift, silence, board swap.
enum class Truth { unknown, yes, no };
inline std::span<const std::string_view> enum_names(Truth) {
  static constexpr std::string_view names[] = {"unknown", "yes", "no"};
  return names;
}

struct Condition {
  std::string type;
  Truth state = Truth::unknown;
  std::string reason;
  Instant since;
  void fields(Fields& f) {
    f(1, "type", type, "stable name, for example drift, missing_from_import, agent_silent");
    f(2, "state", state, "yes, no or unknown; unknown never counts as good");
    f(3, "reason", reason, "what was seen, for people");
    f(4, "since", since, "when it took this state");
  }
};

}  // namespace tundish
