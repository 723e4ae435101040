#pragma once
// Template bodies of registry.hpp.

namespace tundish {

template <class T>
const T* Registry::find_named(const std::string& name_or_id, const TenantId& tenant) const {
  const auto visible = [&](const T* object) {
    return object && (tenant.empty() || object->meta.tenant == tenant) ? object : nullptr;
  };
  if (const T* by_id = visible(find(Id<T>(name_or_id)))) return by_id;
  const auto it = names_.find({std::string(T::kind), name_or_id});
  if (it == names_.end()) return nullptr;
  const T* found = nullptr;
  for (const auto& id : it->second) {
    const T* candidate = visible(find(Id<T>(id)));
    if (!candidate) continue;
    if (found) return nullptr;
    found = candidate;
  }
  return found;
}

template <class T>
void Registry::set(const Id<T>& id, const T* value) {
  auto& table = std::get<Table<T>>(tables_);
  const auto it = table.find(id);
  const T* before = it == table.end() ? nullptr : &it->second;
  if (before && (!value || before->meta.name != value->meta.name)) {
    const auto named = names_.find({std::string(T::kind), before->meta.name});
    if (named != names_.end()) {
      named->second.erase(id.str());
      if (named->second.empty()) names_.erase(named);
    }
  }
  if (value && (!before || before->meta.name != value->meta.name)) {
    names_[{std::string(T::kind), value->meta.name}].insert(id.str());
  }
  index(before, value);
  if (!value) {
    if (before) table.erase(it);
  } else if (before) {
    it->second = *value;
  } else {
    table.emplace(id, *value);
  }
}

template <class T>
void Txn::put(T object) {
  const T* before = registry_.find(object.id);
  object.meta.revision = next_revision();
  if (!before) object.meta.created_at = now_;
  if (before) {
    undo_.push_back([this, old = *before] { registry_.set<T>(old.id, &old); });
  } else {
    undo_.push_back([this, id = object.id] { registry_.set<T>(id, nullptr); });
  }
  registry_.set<T>(object.id, &object);
  const std::string id = object.id.str();
  const std::int64_t revision = object.meta.revision;
  changes_.push_back(
      {std::string(T::kind), id, revision, std::make_shared<Holder<T>>(std::move(object))});
}

template <class T>
void Txn::erase(const Id<T>& id) {
  const T* before = registry_.find(id);
  if (!before) return;
  undo_.push_back([this, old = *before] { registry_.set<T>(old.id, &old); });
  registry_.set<T>(id, nullptr);
  changes_.push_back({std::string(T::kind), id.str(), next_revision(), nullptr});
}

}  // namespace tundish
