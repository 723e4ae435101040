#include "base/error.hpp"

namespace tundish {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::invalid: return "invalid";
    case Code::not_found: return "not_found";
    case Code::conflict: return "conflict";
    case Code::denied: return "denied";
    case Code::exhausted: return "exhausted";
    case Code::unavailable: return "unavailable";
    case Code::timeout: return "timeout";
    case Code::unsupported: return "unsupported";
    case Code::corrupt: return "corrupt";
    case Code::internal: return "internal";
  }
  return "internal";
}

Error&& Error::with_remedy(std::string text) && {
  remedy = std::move(text);
  return std::move(*this);
}

Error&& Error::about(std::string object_name) && {
  object = std::move(object_name);
  return std::move(*this);
}

Error&& Error::wrap(std::string outer) && {
  context.insert(context.begin(), std::move(outer));
  return std::move(*this);
}

std::string Error::message() const {
  std::string out;
  for (const auto& part : context) out += part + ": ";
  out += what;
  if (!remedy.empty()) out += " (" + remedy + ")";
  return out;
}

Error make_error(Code code, std::string what) {
  Error error;
  error.code = code;
  error.what = std::move(what);
  return error;
}

}  // namespace tundish
