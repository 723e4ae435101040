#include "families/switches/driver_http.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace tundish::switches {

void call_json(Wire& wire, const HttpLogin& login, HttpRequest request, Duration limit,
               JsonDone done) {
  if (!login.authorization.empty()) request.headers["authorization"] = login.authorization;
  request.headers.try_emplace("content-type", "application/json");
  const std::string what = request.method + " " + request.url;
  wire.start(std::move(request), limit,
             [what, done = std::move(done)](const Result<HttpResponse>& response) {
               if (!response) return done(response.error());
               if (response->status == 401 || response->status == 403) {
                 return done(make_error(Code::denied, "its API refuses our login")
                                 .with_remedy("correct the switch's secret"));
               }
               if (response->status >= 300) {
                 return done(make_error(Code::unavailable,
                                        what + " answered " + std::to_string(response->status) +
                                            " " + std::string(trim(response->body))));
               }
               auto parsed = JsonValue::parse(response->body);
               if (!parsed) return done(make_error(Code::unavailable, what + " gave no JSON"));
               done(std::move(*parsed));
             });
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> command_lines(const std::vector<SwitchStep>& steps) {
  std::vector<std::string> out;
  std::vector<std::size_t> open = {0};
  const auto leave_to = [&](std::size_t column) {
    for (; open.back() > column; open.pop_back()) out.emplace_back("exit");
  };
  for (const auto& step : steps) {
    for (const auto& line : split(step.text, '\n')) {
      const auto command = trim(line);
      if (command.empty() || command[0] == '!') continue;
      const std::size_t column = line.find_first_not_of(' ');
      leave_to(column);
      if (column > open.back()) open.push_back(column);
      out.emplace_back(line);
    }
    leave_to(0);
  }
  return out;
}

}  // namespace tundish::switches
