#pragma once
// Every kind of object that has a list, a page of its own and a place in the event stream.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "edge/api/backend.hpp"

namespace tundish::edge::api {

using SeeOwner = std::function<void(const std::string& id, const std::optional<TenantId>&)>;

struct Kind {
  std::string_view plural;
  std::string_view name;
  Result<Answer> (*list)(Backend&, const Call&);
  Result<Answer> (*get)(Backend&, const Call&);
  /// The object of a change as the caller may see it; nullopt: not at all.
  std::optional<std::string> (*render)(const Registry&, const Identity&, const ObjectBase&);
  /// Whom it is shown to besides the operator.
  std::optional<TenantId> (*owner)(const Registry&, const ObjectBase&);
  /// Every object of the kind as (id, owner).
  void (*each_owner)(const Registry&, const SeeOwner&);
  std::string (*schema)();
  /// Ids of every object of the kind that has the name.
  std::vector<std::string> (*ids_named)(const Registry&, const std::string& name);
};

std::span<const Kind> all_kinds();
const Kind* find_kind(std::string_view name);

}  // namespace tundish::edge::api
