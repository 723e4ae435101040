#include "families/bmcs/leak_look.hpp"

#include <utility>

#include "families/bmcs/leak_text.hpp"

namespace tundish::families {
namespace {

/// A tray of an NVL72 shows some sixty chassis and a dozen detectors.
constexpr int most_questions = 600;
constexpr const char* chassis_path = "/redfish/v1/Chassis";

}  // namespace

void LeakLook::start(std::vector<LeakCollection> known) {
  for (const auto& one : known) steps_.push_back({Kind::collection, one.path, one.chassis});
  found_ = std::move(known);
  remembered_ = !found_.empty();
  if (steps_.empty()) steps_.push_back({Kind::chassis_list, chassis_path, ""});
  next();
}

void LeakLook::next() {
  if (steps_.empty()) return end(std::move(reading_));
  if (++asked_ > most_questions) {
    return end(make_error(Code::unavailable, "the BMC shows more than can be read"));
  }
  const Step step = steps_.front();
  steps_.pop_front();
  ask_(step.path, [self = shared_from_this(), step](const Result<HttpResponse>& response) {
    self->take(step, response);
  });
}

void LeakLook::take(const Step& step, const Result<HttpResponse>& response) {
  if (!response) return end(response.error());
  if (response->status == 401 || response->status == 403) {
    return end(make_error(Code::denied, "the BMC refused the credentials")
                   .with_remedy("check the bmc password that tundishd was given"));
  }
  if (response->status == 404) {
    if (step.kind == Kind::detector) {  // it is listed, and nothing is known of it
      LeakDetector silent;
      silent.name = step.chassis + "/" + redfish_id(step.path);
      reading_.leaks.push_back(std::move(silent));
    } else if (step.kind == Kind::collection && std::exchange(remembered_, false)) {
      found_.clear();
      steps_.clear();
      reading_ = {};
      steps_.push_back({Kind::chassis_list, chassis_path, ""});
    }
    return next();
  }
  if (response->status != 200) {
    return end(make_error(Code::unavailable,
                          "the BMC answered " + std::to_string(response->status)));
  }
  if (auto read_it = read(step, response->body); !read_it) return end(read_it.error());
  next();
}

Result<> LeakLook::read_list(const Step& step, const std::string& body, Kind member) {
  const auto list = TRY(parse_members(body));
  for (const auto& path : list.paths) {
    steps_.push_back({member, path, member == Kind::chassis ? redfish_id(path) : step.chassis});
  }
  if (!list.next.empty()) steps_.push_front({step.kind, list.next, step.chassis});
  return {};
}

Result<> LeakLook::read(const Step& step, const std::string& body) {
  const auto follow = [&](Kind kind, std::string_view member) -> Result<bool> {
    std::string path = TRY(find_redfish_link(body, member));
    if (path.empty()) return false;
    if (kind == Kind::collection) found_.push_back({path, step.chassis});
    steps_.push_back({kind, std::move(path), step.chassis});
    return true;
  };
  switch (step.kind) {
    case Kind::chassis_list: return read_list(step, body, Kind::chassis);
    case Kind::chassis:
      if (TRY(follow(Kind::collection, "LeakDetectors"))) return {};
      TRY_VOID(follow(Kind::thermal, "ThermalSubsystem"));
      return {};
    case Kind::thermal: TRY_VOID(follow(Kind::detection, "LeakDetection")); return {};
    case Kind::detection: TRY_VOID(follow(Kind::collection, "LeakDetectors")); return {};
    case Kind::collection: return read_list(step, body, Kind::detector);
    case Kind::detector:
      reading_.leaks.push_back(TRY(parse_leak_detector(body, step.chassis)));
      return {};
  }
  return {};
}

void LeakLook::end(Result<BmcReading> reading) {
  if (!done_) return;
  const Done done = std::exchange(done_, nullptr);
  done(std::move(reading), found_);
}

}  // namespace tundish::families
