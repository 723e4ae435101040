#pragma once
// One hand-written list of fields per struct; every codec (JSON, tables, docs) is one Sink.
// Measured: a type-erased visitor costs a tenth of the compile time of templated codecs.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/id.hpp"
#include "base/instant.hpp"

namespace tundish {

/// What a codec must know of a field besides its value.
struct FieldInfo {
  int number;             ///< never reused, never changed
  std::string_view name;  ///< snake_case: C++ field = JSON key = flag = column
  std::string_view doc;   ///< one sentence with unit and source
};

/// A codec. The same walk reads and writes: a writer takes the value, a reader replaces it.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void begin(const FieldInfo& field) = 0;
  virtual void end() = 0;
  virtual void text(std::string& value) = 0;
  virtual void integer(std::int64_t& value) = 0;
  virtual void flag(bool& value) = 0;
  virtual void instant(Instant& value) = 0;
  /// `value` indexes `names`.
  virtual void enumerator(int& value, std::span<const std::string_view> names) = 0;
  /// Whether the optional is to hold a value after the walk.
  virtual bool present(bool has) = 0;
  /// The number of items the list is to hold; item() is called before each one.
  virtual std::size_t begin_list(std::size_t size) = 0;
  virtual void item(std::size_t index) = 0;
  virtual void end_list() = 0;
  /// The keys the map is to hold; key() is called before each value.
  virtual std::vector<std::string> begin_map(std::vector<std::string> keys) = 0;
  virtual void key(const std::string& name) = 0;
  virtual void end_map() = 0;
  virtual void begin_struct() = 0;
  virtual void end_struct() = 0;
};

class Fields;

template <class T>
concept Described = requires(T& t, Fields& f) { t.fields(f); };

/// Handed to `fields()`. An enum takes part when `enum_names(E)` is found by ADL.
class Fields {
 public:
  explicit Fields(Sink& sink) : sink_(sink) {}

  template <class T>
  void operator()(int number, std::string_view name, T& value, std::string_view doc) {
    sink_.begin({number, name, doc});
    visit(value);
    sink_.end();
  }

 private:
  void visit(std::string& v) { sink_.text(v); }
  template <class T>
  void visit(Id<T>& v) {
    sink_.text(v.raw());
  }
  void visit(bool& v) { sink_.flag(v); }
  void visit(Instant& v) { sink_.instant(v); }
  void visit(std::int64_t& v) { sink_.integer(v); }
  void visit(Duration& v) { sink_.integer(v.us); }
  void visit(int& v) {
    std::int64_t wide = v;
    sink_.integer(wide);
    v = static_cast<int>(wide);
  }

  template <class E>
    requires std::is_enum_v<E>
  void visit(E& v) {
    int raw = static_cast<int>(v);
    sink_.enumerator(raw, enum_names(E{}));
    v = static_cast<E>(raw);
  }

  template <class T>
  void visit(std::optional<T>& v) {
    if (!sink_.present(v.has_value())) {
      v.reset();
      return;
    }
    if (!v) v.emplace();
    visit(*v);
  }

  template <class T>
  void visit(std::vector<T>& v) {
    v.resize(sink_.begin_list(v.size()));
    for (std::size_t i = 0; i < v.size(); ++i) {
      sink_.item(i);
      visit(v[i]);
    }
    sink_.end_list();
  }

  template <class T>
  void visit(std::map<std::string, T>& v) {
    std::vector<std::string> present;
    for (const auto& [name, unused] : v) present.push_back(name);
    std::map<std::string, T> out;
    for (const auto& name : sink_.begin_map(std::move(present))) {
      sink_.key(name);
      T value{};
      if (const auto it = v.find(name); it != v.end()) value = it->second;
      visit(value);
      out.emplace(name, std::move(value));
    }
    v = std::move(out);
    sink_.end_map();
  }

  template <Described T>
  void visit(T& v) {
    sink_.begin_struct();
    v.fields(*this);
    sink_.end_struct();
  }

  Sink& sink_;
};

/// A described object without its type, so that a codec compiles once. Does not own.
class AnyDescribed {
 public:
  template <Described T>
    requires(!std::is_same_v<std::remove_const_t<T>, AnyDescribed>)
  AnyDescribed(T& object)  // NOLINT: implicit on purpose
      : object_(&object), visit_([](void* p, Fields& f) { static_cast<T*>(p)->fields(f); }) {}
  void fields(Fields& f) const { visit_(object_, f); }

 private:
  void* object_;
  void (*visit_)(void*, Fields&);
};

/// A const object seen by a codec that only reads it (writers never change a value).
template <Described T>
AnyDescribed describe_const(const T& object) {
  return AnyDescribed(const_cast<T&>(object));  // NOLINT: writing sinks leave values alone
}

}  // namespace tundish
