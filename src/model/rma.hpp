#pragma once
// What goes back to the vendor: serials, and the evidence that went with it.
#include <string>
#include <vector>

#include "model/incident.hpp"

namespace tundish {

struct RmaPart {
  std::string what;
  std::string serial;
  std::string uuid;
  std::string model;
  std::string place;
  void fields(Fields& f) {
    f(1, "what", what, "chassis or gpu");
    f(2, "serial", serial, "as the part itself told it; empty: it did not");
    f(3, "uuid", uuid, "of a GPU");
    f(4, "model", model, "product name");
    f(5, "place", place, "PCI address, or rack and position");
  }
};

enum class RmaState { open, closed };
inline std::span<const std::string_view> enum_names(RmaState) {
  static constexpr std::string_view names[] = {"open", "closed"};
  return names;
}

struct Rma {
  static constexpr std::string_view kind = "rma";
  Id<Rma> id;
  IncidentId incident;
  NodeId node;
  std::string node_name;
  std::string fault;
  std::vector<RmaPart> parts;
  RmaState state = RmaState::open;
  Instant opened_at;
  Instant closed_at;
  std::string bundle_sha256;
  Instant bundle_at;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "incident", incident, "incident whose repairs were spent");
    f(3, "node", node, "node");
    f(4, "node_name", node_name, "its name at that time");
    f(5, "fault", fault, "what is broken");
    f(6, "parts", parts, "what goes back, with serials; the accused part first");
    f(7, "state", state, "open or closed");
    f(8, "opened_at", opened_at, "when");
    f(9, "closed_at", closed_at, "when a person closed the incident");
    f(10, "bundle_sha256", bundle_sha256, "of the newest evidence bundle; empty: none was made");
    f(11, "bundle_at", bundle_at, "when that was made");
    f(12, "meta", meta, "name, revision");
  }
};

}  // namespace tundish
