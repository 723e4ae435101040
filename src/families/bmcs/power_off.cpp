#include "families/bmcs/power_off.hpp"

#include "codec/json.hpp"

namespace tundish::families {
namespace {

constexpr Duration between_looks = seconds(1);

}  // namespace

Result<std::string> parse_power_state(std::string_view text) {
  const JsonValue system = TRY(JsonValue::parse(text));
  if (system.kind() != JsonValue::Kind::object) {
    return make_error(Code::invalid, "the BMC's answer is no Redfish resource");
  }
  const std::string state = system.at("PowerState").as_text().value_or("");
  for (const char* known : {"On", "Off", "PoweringOn", "PoweringOff", "Paused"}) {
    if (state == known) return state;
  }
  return std::string();
}

void PowerOff::start() { look(); }

void PowerOff::look() {
  parts_.ask([self = shared_from_this()](const Result<HttpResponse>& response) {
    self->take(response);
  });
}

void PowerOff::take(const Result<HttpResponse>& response) {
  std::string seen;
  if (!response) {
    seen = response.error().message();
  } else if (response->status != 200) {
    seen = "answered " + std::to_string(response->status);
  } else if (const auto state = parse_power_state(response->body); !state) {
    seen = state.error().message();
  } else if (*state == "Off") {
    return done_({});
  } else {
    seen = "shows PowerState " + (state->empty() ? std::string("not at all") : *state);
  }
  if (told_) return wait(seen);
  told_ = true;  // also when its state cannot be read: the request comes first
  parts_.tell([self = shared_from_this()](Result<> accepted) {
    if (!accepted) return self->done_(std::move(accepted));
    self->look();
  });
}

void PowerOff::wait(const std::string& seen) {
  const Instant next = parts_.scheduler.now() + between_looks;
  if (next >= parts_.until) {
    return done_(make_error(Code::timeout,
                            "the BMC accepted the power-off and is not seen to be off: " + seen));
  }
  parts_.scheduler.at(next, [self = shared_from_this()] { self->look(); });
}

}  // namespace tundish::families
