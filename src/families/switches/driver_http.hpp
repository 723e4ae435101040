#pragma once
// What the HTTP transports share: a JSON answer or an Error that says what the switch said.
#include <functional>
#include <string>

#include "codec/json.hpp"
#include "families/switches/driver_transport.hpp"
#include "ports/wire.hpp"

namespace tundish::switches {

/// How to speak to switches: the value of the authorization header, "" for none.
struct HttpLogin {
  std::string authorization;
};

using JsonDone = std::function<void(Result<JsonValue>)>;
void call_json(Wire& wire, const HttpLogin& login, HttpRequest request, Duration limit,
               JsonDone done);

/// `text` as a JSON string, with its quotes.
std::string json_text(const std::string& text);
/// The commands of all steps, one a list item, with an `exit` for every mode that their
/// indentation leaves: a line must not be taken for one of the mode before it.
std::vector<std::string> command_lines(const std::vector<SwitchStep>& steps);

}  // namespace tundish::switches
