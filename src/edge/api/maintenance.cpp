#include "base/quote.hpp"
#include "edge/api/handlers.hpp"
#include "model/ops/maintenance_ops.hpp"
#include "model/ops/notice_ops.hpp"

namespace tundish::edge::api {
namespace {

/// A year: whoever plans further plans it again.
constexpr Duration longest_window = hours(24 * 366);

Result<TimeOwner> read_owner(const std::string& text) {
  const auto names = enum_names(TimeOwner{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<TimeOwner>(i);
  }
  return make_error(Code::invalid, in_quotes(text) + " owns no time")
      .with_remedy("use provider, tenant, vendor or nobody");
}

template <class T>
Result<std::string> named(const Backend& b, const Call& call, const std::string& name) {
  const T object = TRY((get_visible<T>(b, call, name)));
  return std::string(T::kind) + ":" + object.meta.name;
}

/// By the object's name: a window on a typing error would protect nobody.
Result<std::string> read_scope(const Backend& b, const Call& call, const std::string& scope) {
  const auto colon = scope.find(':');
  const std::string kind = scope.substr(0, colon);
  const std::string name = colon == std::string::npos ? "" : scope.substr(colon + 1);
  if (!name.empty()) {
    if (kind == Node::kind) return named<Node>(b, call, name);
    if (kind == Rack::kind) return named<Rack>(b, call, name);
    if (kind == Switch::kind) return named<Switch>(b, call, name);
    if (kind == Site::kind) return named<Site>(b, call, name);
  }
  return make_error(Code::invalid, in_quotes(scope) + " is no scope of a maintenance")
      .with_remedy("use node:NAME, rack:NAME, switch:NAME or site:NAME");
}

}  // namespace

Result<Later> post_maintenance(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<MaintenanceRequest>(call));
  MaintenanceOrder order;
  order.scope = TRY(read_scope(b, call, asked.scope));
  order.owner = TRY(read_owner(asked.owner));
  order.reason = asked.reason.empty() ? call.header("x-reason") : asked.reason;
  order.begin = asked.begin.is_set() ? asked.begin : b.now();
  order.end = asked.end;
  if (order.end - b.now() > longest_window) {
    return make_error(Code::invalid, "the window ends more than a year from now")
        .with_remedy("plan it again next year");
  }
  TRY_VOID(b.perform(call, *create_maintenance(order), order.reason));
  const Maintenance* newest = nullptr;
  for (const auto& [id, one] : b.reg().all<Maintenance>()) {
    if (!newest || one.meta.revision > newest->meta.revision) newest = &one;
  }
  if (!newest) return make_error(Code::internal, "the maintenance was not stored");
  return show_later(b, call, *newest, 201);
}

Result<Later> end_maintenance_call(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<ReasonRequest>(call));
  const Maintenance window = TRY((get_matching<Maintenance>(b, call, call.parts.at(0))));
  TRY_VOID(b.perform(call, *end_maintenance(window.id), asked.reason));
  return show_later(b, call, window);
}

/// Whoever was called for an overrun says that it is looked after.
Result<Later> ack_notice(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<ReasonRequest>(call));
  const Notice notice = TRY((get_matching<Notice>(b, call, call.parts.at(0))));
  if (notice.state == NoticeState::resolved) {
    return make_error(Code::conflict, "notice " + notice.meta.name + " is over")
        .about("notice/" + notice.meta.name);
  }
  TRY_VOID(b.perform(call, *acknowledge_notice(notice.object, call.who.name), asked.reason));
  return show_later(b, call, notice);
}

}  // namespace tundish::edge::api
