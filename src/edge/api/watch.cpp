#include "edge/api/watch.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "edge/api/handlers.hpp"
#include "edge/api/kinds.hpp"

namespace tundish::edge::api {
namespace {

struct EventHead {
  std::int64_t revision = 0;
  std::string kind, id;
  void fields(Fields& f) {
    f(1, "revision", revision, "global revision of the change");
    f(2, "kind", kind, "kind of object");
    f(3, "id", id, "its id");
  }
};

Error gone_error(std::int64_t since, std::int64_t first) {
  return make_error(Code::conflict, "changes after revision " + std::to_string(since) +
                                        " are not kept; the first revision kept is " +
                                        std::to_string(first))
      .with_remedy("list again and watch from the x-revision of the list");
}

}  // namespace

Watch::Watch(Backend& backend) : backend_(backend) {
  first_known_ = newest_ = backend.reg().revision();
  learn_owners();
  const std::weak_ptr<int> alive(alive_);
  backend.parts.ledger.on_change([this, alive](const Change& change) {
    if (!alive.expired()) take(change);
  });
  backend.parts.ledger.on_reload([this, alive] {
    if (alive.expired()) return;
    pending_.clear();
    learn_owners();
  });
}

void Watch::learn_owners() {
  owners_.clear();
  for (const auto& kind : all_kinds()) {
    kind.each_owner(backend_.reg(),
                    [&](const std::string& id, const std::optional<TenantId>& owner) {
                      if (owner) owners_[{std::string(kind.name), id}] = *owner;
                    });
  }
}

void Watch::take(const Change& change) {
  const Kind* kind = find_kind(change.kind);
  if (!kind) return;
  WatchEvent event{change, std::nullopt, std::nullopt};
  const auto known = owners_.find({change.kind, change.id});
  if (known != owners_.end()) {
    event.owner_before = known->second;
    owners_.erase(known);
  }
  if (change.body) event.owner = kind->owner(backend_.reg(), *change.body);
  if (event.owner) owners_[{change.kind, change.id}] = *event.owner;
  // The first change after a commit asks to be told of the next one, before any performer does, so
  // that what is pending when emit() runs is what that commit made durable.
  if (pending_.empty()) {
    const std::weak_ptr<int> alive(alive_);
    backend_.parts.ledger.after_flush([this, alive](const Result<>& durable) {
      if (!alive.expired()) emit(durable);
    });
  }
  pending_.push_back(std::move(event));
}

void Watch::emit(const Result<>& durable) {
  std::vector<WatchEvent> events = std::exchange(pending_, {});
  if (!durable) return;
  drop_ended();
  for (auto& event : events) {
    newest_ = std::max(newest_, event.change.revision);
    for (const auto& stream : streams_) {
      std::string text = render(stream.who, event);
      if (!text.empty()) stream.outlet->write(std::move(text));
    }
    ring_.push_back(std::move(event));
  }
  while (ring_.size() > ring_size) {
    first_known_ = ring_.front().change.revision;
    ring_.pop_front();
  }
}

std::string Watch::render(const Identity& who, const WatchEvent& event) const {
  const auto may_see = [&](const std::optional<TenantId>& owner) {
    return who.tenant.empty() || (owner && (owner->empty() || *owner == who.tenant));
  };
  const Kind* kind = find_kind(event.change.kind);
  const bool sees = kind && event.change.body && may_see(event.owner);
  if (!sees && !may_see(event.owner_before)) return "";
  std::string object = "null";
  if (sees) {
    // Seen then but hidden by now (a replay after its allocation ended): told as gone.
    object = kind->render(backend_.reg(), who, *event.change.body).value_or("null");
  }
  std::string head =
      render_json(EventHead{event.change.revision, event.change.kind, event.change.id});
  head.pop_back();
  return "id: " + std::to_string(event.change.revision) + "\nevent: change\ndata: " + head +
         ",\"object\":" + object + "}\n\n";
}

void Watch::open(const Call& call, std::shared_ptr<Outlet> outlet) {
  const auto fail = [&](const Error& error, int status) {
    HttpResponse response = error_response(error);
    if (status != 0) response.status = status;
    response.headers["x-first-revision"] = std::to_string(first_known_);
    outlet->send(std::move(response));
  };
  std::int64_t since = newest_;
  std::string asked = call.query("since");
  if (asked.empty()) asked = call.header("last-event-id");
  if (!asked.empty()) {
    const auto number = parse_integer(asked);
    if (!number) return fail(make_error(Code::invalid, "since is no revision: " + asked), 0);
    since = *number;
    // A revision of the future is one of another epoch: its reader must look at everything anew.
    // Revisions up to the registry's may be durable without a change to tell.
    if (since < first_known_ || since > std::max(newest_, backend_.reg().revision())) {
      return fail(gone_error(since, first_known_), 410);
    }
  }
  drop_ended();
  if (streams_.size() >= most_streams) {
    return fail(make_error(Code::unavailable, "too many event streams are open"), 0);
  }
  outlet->begin_stream("text/event-stream");
  outlet->write(": revision " + std::to_string(newest_) + "\n\n");
  for (const auto& event : ring_) {
    if (event.change.revision <= since) continue;
    std::string text = render(call.who, event);
    if (!text.empty()) outlet->write(std::move(text));
  }
  streams_.push_back({call.who, std::move(outlet)});
  if (!beating_) {
    beating_ = true;
    beat();
  }
}

void Watch::drop_ended() {
  std::erase_if(streams_, [&](const Stream& stream) {
    if (stream.outlet->closed()) return true;
    if (is_valid(backend_.reg(), stream.who, backend_.now())) return false;
    stream.outlet->end();
    return true;
  });
}

void Watch::beat() {
  drop_ended();
  for (const auto& stream : streams_) stream.outlet->write(": heartbeat\n\n");
  backend_.parts.scheduler.at(backend_.now() + heartbeat,
                              [this, alive = std::weak_ptr<int>(alive_)] {
                                if (!alive.expired()) beat();
                              });
}

void start_watch(Backend& b, const Call& call, std::shared_ptr<Outlet> outlet) {
  b.watch->open(call, std::move(outlet));
}

}  // namespace tundish::edge::api
