// What befalls the storage server of an frr fabric: it stands still, or answers late.
#include "base/log.hpp"
#include "lab/frr_fabric.hpp"

namespace tundish::lab {
namespace {

/// Sessions of a slow server stand still but for moments, in which they answer a few requests. Its
/// management and its logins are as quick as ever: it is slow, not away.
constexpr const char* let_answer =
    "p=$(pgrep -f '^sshd: .*@internal-sftp') && kill -CONT $p && sleep 0.001; kill -STOP $p; :";
constexpr int least_delay_ms = 50;
constexpr int most_delay_ms = 60000;

}  // namespace

void FrrFabric::answer_late(int order, Duration delay) {
  Box& box = *boxes_.at(storage_name);
  if (box.phase != Phase::slow || box.orders != order) return;
  const auto done = tell(box, let_answer);
  if (!done) log(LogLevel::warn, "lab_storage_slow", {{"error", done.error().message()}});
  loop_.at(loop_.now() + delay, [this, order, delay] { answer_late(order, delay); });
}

Result<> FrrFabric::set_storage(const StorageRequest& request) {
  const auto it = boxes_.find(storage_name);
  if (it == boxes_.end()) {
    return make_error(Code::not_found, "this lab was started without its storage server");
  }
  Box& box = *it->second;
  if (request.delay_ms < least_delay_ms || request.delay_ms > most_delay_ms) {
    return make_error(Code::invalid, "a delay is " + std::to_string(least_delay_ms) + " to " +
                                         std::to_string(most_delay_ms) + " ms, not " +
                                         std::to_string(request.delay_ms));
  }
  if (box.phase != Phase::running && box.phase != Phase::slow && box.phase != Phase::frozen) {
    return make_error(Code::conflict, storage_name + " is " + std::string(phase_name(box.phase)));
  }
  log(LogLevel::info, "lab_storage", {{"action", static_cast<int>(request.action)}});
  const int order = ++box.orders;
  switch (request.action) {
    case StorageVerb::hang:
      TRY_VOID(send(box, "STOP"));
      box.phase = Phase::frozen;
      return {};
    case StorageVerb::mend:
      TRY_VOID(send(box, "CONT"));
      box.phase = Phase::running;
      return {};
    case StorageVerb::slow: break;
  }
  TRY_VOID(send(box, "CONT"));
  box.phase = Phase::slow;
  answer_late(order, milliseconds(request.delay_ms));
  return {};
}

}  // namespace tundish::lab
