#pragma once
#include <string>

namespace tundish::families {

/// Value of an Authorization header. Source: RFC 7617.
std::string basic_auth(const std::string& user, const std::string& password);

}  // namespace tundish::families
