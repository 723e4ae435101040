#pragma once
// A described type with every kind of field, for the codec tests.
#include <array>
#include <limits>

#include "base/describe.hpp"

namespace tundish::sample {

enum class Phase { free, held, gone };
inline std::span<const std::string_view> enum_names(Phase) {
  static constexpr std::array<std::string_view, 3> names{"free", "held", "gone"};
  return names;
}

struct Part {
  std::string model = "none";
  int slot = -1;
  bool operator==(const Part&) const = default;
  void fields(Fields& f) {
    f(1, "model", model, "Name on the label.");
    f(2, "slot", slot, "Position, counted from 0.");
  }
};

struct Spec {
  std::string rack;
  std::vector<Part> parts;
  std::optional<Part> spare;
  std::map<std::string, std::string> labels;
  bool operator==(const Spec&) const = default;
  void fields(Fields& f) {
    f(1, "rack", rack, "Name of the rack.");
    f(2, "parts", parts, "What is built in.");
    f(3, "spare", spare, "Absent when there is none.");
    f(4, "labels", labels, "Free text by key.");
  }
};

struct Thing {
  std::string id;
  Spec spec;
  Phase phase = Phase::free;
  bool ready = false;
  std::int64_t count = 7;
  Duration limit;
  Instant since;
  std::optional<int> weight;
  std::vector<std::vector<int>> grid;
  std::map<std::string, Part> by_name;
  bool operator==(const Thing&) const = default;
  void fields(Fields& f) {
    f(1, "id", id, "Unique name.");
    f(2, "spec", spec, "What the user wants.");
    f(3, "phase", phase, "Where it is in its life.");
    f(4, "ready", ready, "Whether it serves.");
    f(5, "count", count, "How many.");
    f(6, "limit", limit, "Longest wait, in microseconds.");
    f(7, "since", since, "Start of the phase.");
    f(8, "weight", weight, "Absent: not weighed.");
    f(9, "grid", grid, "Rows of cells.");
    f(10, "by_name", by_name, "Parts by name.");
  }
};

inline Thing full_thing() {
  Thing thing;
  thing.id = "tün\"dish\\\n\x01";
  thing.spec = {"r01", {{"a", 1}, {"b", 2}}, Part{"c", 3}, {{"owner", "x"}, {"", "empty key"}}};
  thing.phase = Phase::gone;
  thing.ready = true;
  thing.count = std::numeric_limits<std::int64_t>::min();
  thing.limit = seconds(90);
  thing.since = Instant{1796025600123456};
  thing.weight = -2147483647 - 1;
  thing.grid = {{1, 2}, {}, {3}};
  thing.by_name = {{"left", {"l", 1}}, {"right", {"r", 2}}};
  return thing;
}

}  // namespace tundish::sample
