#pragma once
#include <set>
#include <string>

#include "model/incident.hpp"
#include "ports/wire.hpp"

namespace tundish::tundishd {

/// POSTs an incident once when it opens and once when it ends. Best effort: the history has all.
class Webhook {
 public:
  Webhook(Wire& wire, std::string url) : wire_(wire), url_(std::move(url)) {}
  void tell(const Incident& incident);

 private:
  Wire& wire_;
  std::string url_;
  std::set<std::string> told_;
};

}  // namespace tundish::tundishd
