#pragma once
// The one table of routes: dispatch, rights and OpenAPI come from it.
#include <string_view>
#include <variant>
#include <vector>

#include "edge/api/backend.hpp"

namespace tundish::edge::api {

using ReadHandler = Result<Answer> (*)(Backend&, const Call&);
/// Performs at once; what it returns renders the answer when that is durable.
using WriteHandler = Result<Later> (*)(Backend&, const Call&);
/// Answers later by itself.
using SlowHandler = void (*)(Backend&, const Call&, Respond);
using StreamHandler = void (*)(Backend&, const Call&, std::shared_ptr<Outlet>);

/// A body: its name in OpenAPI and how its schema is made; no schema: none, or no JSON.
struct Body {
  std::string_view name = {};
  std::string (*schema)() = nullptr;
  bool list = false;
};

struct Route {
  std::string_view method;
  std::string pattern;  ///< "*" matches one segment
  Right right = Right::read;
  std::variant<ReadHandler, WriteHandler, SlowHandler, StreamHandler> handler;
  std::string_view doc;
  Body asks = {};
  Body answers = {};
};

const std::vector<Route>& all_routes();

struct Match {
  const Route* route = nullptr;  ///< nullptr with `allow` empty: no such path
  std::vector<std::string> parts;
  std::string allow;  ///< methods of the path when only the method was wrong
};
Match match_route(std::string_view method, const std::string& path);

}  // namespace tundish::edge::api
