#pragma once
// What the operations share.
#include "model/operation.hpp"

namespace tundish {

/// The object or not_found naming it.
template <class T>
Result<T> get_object(const Txn& txn, const Id<T>& id) {
  if (const T* found = txn.view().find(id)) return *found;
  return make_error(Code::not_found, std::string(T::kind) + " " + id.str() + " does not exist")
      .about(std::string(T::kind) + "/" + id.str());
}

/// conflict when another object of the kind has the name within the tenant.
template <class T>
Result<> require_new_name(const Txn& txn, const std::string& name, const TenantId& tenant) {
  for (const auto& [id, object] : txn.view().all<T>()) {
    if (object.meta.name == name && object.meta.tenant == tenant) {
      return make_error(Code::conflict, std::string(T::kind) + " " + name + " exists already")
          .about(std::string(T::kind) + "/" + name)
          .with_remedy("choose another name, or show it with: tundish " + std::string(T::kind) +
                       " show " + name);
    }
  }
  return {};
}

/// Names of people's objects: letters, digits, - and _, at most 63, beginning with a letter.
Result<> require_valid_name(std::string_view kind, const std::string& name);

}  // namespace tundish
