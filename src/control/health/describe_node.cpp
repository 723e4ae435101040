// A cause on one node: itself, something on it that came before, or nobody can tell yet.
#include <algorithm>

#include "control/health/blame_parts.hpp"

namespace tundish::control::health {
namespace {

/// Users of a shared part beside one node, during one symptom of it.
struct Peers {
  const Shared* shared = nullptr;
  Users users;
};

/// Since when a node shows the same; unset: it does not.
Instant shows_same(const Case& given, const NodeId& node, Resource part) {
  const auto mine = given.by_node.find(node);
  if (mine == given.by_node.end()) return {};
  for (const std::size_t i : mine->second) {
    if (given.seen[i].part == part) return began(given.seen[i]);
  }
  return {};
}

/// How long it takes until a user that is fine would have shown the symptom.
Duration look_of(const Case& given, Origin origin) {
  return origin == Origin::event ? given.times.settle : given.times.look;
}

const Users& count_users(const Case& given, const Shared& shared, const Sighting& symptom) {
  const std::tuple key(&shared, symptom.part, symptom.origin);
  const auto known = given.users.find(key);
  if (known != given.users.end()) return known->second;
  const Duration look = look_of(given, symptom.origin);
  Users out;
  for (const auto& [node, devices] : shared.users) {
    const Place& place = given.place(node);
    if (const Instant since = shows_same(given, node, symptom.part); since.is_set()) {
      ++out.hit;
      out.hit_at = std::max(out.hit_at, since);
    } else if (place.heard && !given.is_strained(node)) {
      const auto silent = shared.speaks_at.find(node);
      if (silent != shared.speaks_at.end() && silent->second == never) continue;
      const Instant speaks = silent == shared.speaks_at.end() ? Instant{} : silent->second;
      const Instant look_by = std::max(place.heard_since + look, speaks);
      if (look_by <= given.now) ++out.fine;
      out.look_by = std::max(out.look_by, look_by);
    }
  }
  return given.users.emplace(key, out).first->second;
}

std::vector<Peers> peers_of(const Case& given, const Sighting& symptom) {
  std::vector<Peers> out;
  for (const auto& shared : given.topology.shared) {
    // Who only waits for its storage from elsewhere is no user beside others.
    const bool beside = shared.kind != SubjectKind::job && shared.users.contains(symptom.node);
    if (!beside || !could_cause(shared, symptom)) continue;
    Peers peers{&shared, count_users(given, shared, symptom)};
    --peers.users.hit;  // itself
    out.push_back(peers);
  }
  return out;
}

std::string fine_text(const Peers& peers) {
  return std::to_string(peers.users.fine) + " other " + (peers.users.fine == 1 ? "node" : "nodes") +
         " on " + subject_text(*peers.shared) + " show nothing";
}

void add_evidence(const Case& given, std::size_t root, const std::vector<std::size_t>& follows,
                  Blame& out) {
  for (const std::size_t i : follows) {
    const Sighting& s = given.seen[i];
    BlameEvidence line;
    line.at = s.first;
    line.node = given.place(s.node).name;
    line.part = s.part;
    line.what = s.what;
    line.says = s.says;
    line.weight = i == root ? 90 : 60;
    if (const std::size_t by = given.cause[i]; by != no_cause) {
      const Reach reach = given.seen[by].node == s.node ? Reach::same_node : Reach::job;
      const CauseRow* row = find_cause(given.seen[by].part, s.part, reach);
      if (row) line.says += (line.says.empty() ? "" : "; ") + std::string(row->why);
    }
    out.evidence.push_back(std::move(line));
  }
}

/// The far end of an interface's cable, as the inventory says.
std::string cable_of(const Case& given, const Sighting& s) {
  const auto& ports = given.place(s.node).ports;
  if (const auto port = ports.find(s.device); port != ports.end()) return port->second;
  // A check that speaks of the node, beside a line of the kernel that names the interface.
  std::set<std::string> named;
  for (const std::size_t i : given.by_node.at(s.node)) {
    const auto port = ports.find(given.seen[i].device);
    if (given.seen[i].part == Resource::link && port != ports.end()) named.insert(port->second);
  }
  return named.size() == 1 ? *named.begin() : "";
}

/// Whether taking the node out helps: what its tenant's programs do, or a clock, is only told.
bool is_worth_a_claim(const Sighting& s) {
  if (s.locality == Locality::device_local) return true;
  switch (s.part) {
    case Resource::cpu:
    case Resource::disk:  // of symptoms only the space is one: the tenant's data fills it
    case Resource::clock:
    case Resource::process:
    case Resource::identity:
    case Resource::unknown: return false;
    default: return true;
  }
}

/// Of a node under pressure, somebody must have noticed: pressure alone is no incident.
const Sighting* first_that_asks(const Case& given, const std::vector<std::size_t>& follows,
                                const Sighting* strain) {
  const Sighting* found = nullptr;
  for (const std::size_t i : follows) {
    const Sighting& s = given.seen[i];
    if (strain && (s.part == Resource::cpu || s.part == Resource::memory)) continue;
    const bool waited = s.starved && given.now - began(s) >= given.times.patience;
    // A flapping cable, and the first drops, are told before they cost the node.
    const bool told = strain || s.part == Resource::link || s.part == Resource::cooling;
    if (s.level < (told ? Level::warn : Level::fail) && !waited) continue;
    if (!found || began(s) < began(*found)) found = &s;
  }
  return found;
}

/// Whether peers had the time to show it since: before, that they do not says nothing.
bool peers_looked(const Case& given, const Sighting& asks) {
  return given.now - began(asks) >= look_of(given, asks.origin);
}

void blame_strain(const Case& given, const Sighting& asks, Finding& out) {
  out.settled = true;  // nothing on it is broken, so nothing is taken out of service
  out.blame.rule = "starved";
  out.blame.confidence = 85;
  Sighting looked = asks;  // a check that starved accuses nobody, and what it looks at is cleared
  looked.starved = false;
  for (const auto& peers : peers_of(given, looked)) {
    out.blame.cleared.push_back(
        {peers.shared->part, subject_text(*peers.shared),
         peers.users.fine > 0 && peers_looked(given, asks)
             ? fine_text(peers)
             : "the node was short of " + part_text(out.blame.part) +
                   " at that time, so what it says of others does not count"});
  }
  if (asks.part != out.blame.part) {
    out.blame.cleared.push_back(
        {asks.part, out.blame.object, "it did not get to run, which is not a fault of it"});
  }
  out.blame.would_change = {
      "the same symptom on a node that is not short of " + part_text(out.blame.part),
      "the symptom going on after the pressure is gone"};
}

void blame_earlier(const Case& given, const Sighting& root, const Sighting& asks, Finding& out) {
  out.blame.rule = "came_first";
  out.blame.confidence = 85;
  out.settled = given.now - began(asks) >= given.times.settle;
  out.wake_at = began(asks) + given.times.settle;
  out.blame.cleared.push_back(
      {asks.part, out.blame.object, "its trouble began after that of the " + part_text(root.part)});
  for (const auto& peers : peers_of(given, asks)) {
    if (peers.users.fine == 0 || !peers_looked(given, asks)) continue;
    out.blame.cleared.push_back(
        {peers.shared->part, subject_text(*peers.shared), fine_text(peers)});
  }
  out.blame.would_change = {
      "the " + part_text(asks.part) + " in trouble before the " + part_text(root.part) + " was",
      "the same symptom on nodes without such a fault"};
}

/// What the part explains beside itself: each part of the node that asks and came later.
void clear_later(const Case& given, const Sighting& root, const std::vector<std::size_t>& follows,
                 Finding& out) {
  std::set<Resource> cleared;
  for (const std::size_t i : follows) {
    const Sighting& s = given.seen[i];
    const bool asks = s.level == Level::fail && s.node == root.node && s.part != root.part;
    if (!asks || !cleared.insert(s.part).second) continue;
    out.blame.rule = "came_first";
    out.cause_first = began(root);
    out.blame.cleared.push_back(
        {s.part, out.blame.object, "its trouble began after that of the " + part_text(root.part)});
  }
}

/// Whether the part itself says that it is broken.
bool is_local(const Case& given, const Sighting& root, const std::vector<std::size_t>& follows) {
  return std::any_of(follows.begin(), follows.end(), [&](std::size_t i) {
    const Sighting& s = given.seen[i];
    return s.node == root.node && s.part == root.part && s.level == Level::fail &&
           s.locality == Locality::device_local;
  });
}

/// Nothing outside the node can be the cause.
void blame_only_part(const Case& given, const Sighting& asks,
                     const std::vector<std::size_t>& follows, Finding& out) {
  out.blame.rule = "only_part";
  out.blame.confidence = 90;
  out.local = is_local(given, asks, follows);
  out.settled = out.local || given.now - began(asks) >= given.times.settle;
  out.wake_at = began(asks) + given.times.settle;
  out.blame.would_change = {"the check passing while nothing was done to the part"};
}

void blame_nobody_yet(const Case& given, const Sighting& asks, const Shared& shared, Finding& out) {
  out.node = {};
  out.blame.part = shared.part;
  out.blame.subject_kind = shared.kind;
  out.blame.object = shared.name;
  out.blame.rule = "undecided";
  out.blame.confidence = 50;
  out.settled = given.now - began(asks) >= given.times.settle;
  out.wake_at = began(asks) + given.times.settle;
  out.blame.would_change = {"another user of " + subject_text(shared) +
                            ": fine, it is the node; with the same symptom, it is shared"};
}

/// The node alone shows it: its part, once peers that would show it had time to look and do not.
void blame_alone(const Case& given, const Sighting& asks, const std::vector<Peers>& peers,
                 Finding& out) {
  const Duration look = look_of(given, asks.origin);
  const Peers* doubtful = nullptr;  // the more usual cause of those that nobody clears
  const auto row_of = [&](const Peers& one) {
    return find_cause(one.shared->part, asks.part, Reach::users);
  };
  for (const auto& one : peers) {
    if (one.users.fine > 0) continue;
    if (!doubtful || row_of(one) < row_of(*doubtful)) doubtful = &one;
  }
  if (doubtful) {
    blame_nobody_yet(given, asks, *doubtful->shared, out);
    const Instant own = given.place(asks.node).heard_since + look;
    if (out.settled) out.wake_at = std::max({out.wake_at, doubtful->users.look_by, own});
    return;
  }
  // While others come to show it, it is not the node alone.
  // What a node told before a silence may be over: it is told anew within a look.
  Instant begin = std::max(began(asks), given.place(asks.node).heard_since);
  for (const auto& one : peers) begin = std::max(begin, one.users.hit_at);
  if (given.now - begin < look) {
    const auto busiest =
        std::max_element(peers.begin(), peers.end(),
                         [](const Peers& a, const Peers& b) { return a.users.hit < b.users.hit; });
    blame_nobody_yet(given, asks, *busiest->shared, out);
    out.wake_at = out.settled ? begin + look : began(asks) + given.times.settle;
    return;
  }
  int least = peers.front().users.fine;
  for (const auto& one : peers) {
    least = std::min(least, one.users.fine);
    out.blame.cleared.push_back({one.shared->part, subject_text(*one.shared), fine_text(one)});
  }
  out.settled = true;
  out.blame.rule = "alone";
  out.blame.confidence = std::min(95, 65 + 10 * least);
  const std::string far = cable_of(given, asks);
  if (asks.part == Resource::link && !far.empty()) {
    out.blame.subject_kind = SubjectKind::network_switch;
    out.blame.object = far;
    out.device = far;
    out.blame.would_change.push_back("other ports of that switch losing their links as well");
  }
  out.blame.would_change.push_back("the same symptom on another user of " +
                                   subject_text(*peers.front().shared));
}

}  // namespace

std::optional<Finding> describe_node(const Case& given, std::size_t root,
                                     const std::vector<std::size_t>& follows) {
  const Sighting& cause = given.seen[root];
  const bool strain = is_strain(cause);
  const Sighting* asks = first_that_asks(given, follows, strain ? &cause : nullptr);
  if (!asks) return std::nullopt;
  if (!strain && asks == &cause && !is_worth_a_claim(cause)) return std::nullopt;
  Finding out;
  out.node = cause.node;
  out.affected = {asks->node};
  for (const std::size_t i : follows) {
    if (std::find(out.affected.begin(), out.affected.end(), given.seen[i].node) ==
        out.affected.end()) {
      out.affected.push_back(given.seen[i].node);
    }
  }
  std::sort(out.affected.begin(), out.affected.end());
  out.symptom = asks->part;
  out.first = began(*asks);
  out.device = cause.device;
  out.blame.part = cause.part;
  out.blame.subject_kind = SubjectKind::node;
  out.blame.object = given.place(cause.node).name;
  add_evidence(given, root, follows, out.blame);
  const bool earlier = asks->part != cause.part || asks->node != cause.node;
  if (strain) {
    blame_strain(given, *asks, out);
  } else if (earlier && !has_outer_cause(cause.part)) {
    out.cause_first = began(cause);
    blame_earlier(given, cause, *asks, out);
  } else if (const auto peers = peers_of(given, cause); peers.empty()) {
    blame_only_part(given, cause, follows, out);
    clear_later(given, cause, follows, out);
  } else {
    blame_alone(given, cause, peers, out);
  }
  rank(out.blame.evidence);
  out.claims = out.settled && !strain && !out.node.empty() &&
               out.blame.confidence >= least_confidence && asks->level == Level::fail &&
               (out.local || is_worth_a_claim(cause));  // a line of the log may have come first
  return out;
}

}  // namespace tundish::control::health
