#pragma once
// Who is told of what: classes as data, and one durable notice per incident or maintenance.
#include <map>
#include <optional>
#include <string>

#include "model/maintenance.hpp"

namespace tundish {

enum class NoticeClass {
  hardware,
  fabric,
  storage,
  service,  ///< a daemon, the engine, something that serves many
  job,      ///< a fault that follows one job, not a node
  blind,    ///< we lost sight: nothing is known to be broken
  drill,
  maintenance,  ///< inside a window
  overrun       ///< a window is over and the work is not
};
inline std::span<const std::string_view> enum_names(NoticeClass) {
  static constexpr std::string_view names[] = {"hardware", "fabric",      "storage",
                                               "service",  "job",         "blind",
                                               "drill",    "maintenance", "overrun"};
  return names;
}

enum class NoticeChannel {
  log,     ///< recorded, nobody is called
  ticket,  ///< told once, looked at in working hours
  page     ///< told again until somebody acknowledges
};
inline std::span<const std::string_view> enum_names(NoticeChannel) {
  static constexpr std::string_view names[] = {"log", "ticket", "page"};
  return names;
}

struct NoticeRule {
  NoticeChannel channel = NoticeChannel::ticket;
  int repeat_s = 0;
  std::string runbook;
  std::string doc;
  void fields(Fields& f) {
    f(1, "channel", channel, "log, ticket or page");
    f(2, "repeat_s", repeat_s, "seconds between pages until one is acknowledged; 0: told once");
    f(3, "runbook", runbook, "page for whoever is called, relative to runbooks");
    f(4, "doc", doc, "what the class is");
  }
};

struct NoticeRules {
  int version = 1;
  std::string runbooks;
  int most_tries = 8;
  int first_pause_s = 1;
  int longest_pause_s = 300;
  std::map<std::string, NoticeRule> classes;
  void fields(Fields& f) {
    f(1, "version", version, "raised with every change");
    f(2, "runbooks", runbooks, "what a runbook's name is appended to: a folder or an URL");
    f(3, "most_tries", most_tries, "tries of one delivery, then it is given up and logged");
    f(4, "first_pause_s", first_pause_s, "seconds before the second try; doubled each time");
    f(5, "longest_pause_s", longest_pause_s, "seconds between two tries, at most");
    f(6, "classes", classes, "by name of the class; every class has a rule");
  }
};

enum class NoticeState { open, acknowledged, resolved };
inline std::span<const std::string_view> enum_names(NoticeState) {
  static constexpr std::string_view names[] = {"open", "acknowledged", "resolved"};
  return names;
}

/// What a delivery tells.
enum class NoticeEvent { none, opened, repeated, acknowledged, resolved };
inline std::span<const std::string_view> enum_names(NoticeEvent) {
  static constexpr std::string_view names[] = {"none", "opened", "repeated", "acknowledged",
                                               "resolved"};
  return names;
}

struct Notice {
  static constexpr std::string_view kind = "notice";
  Id<Notice> id;
  std::string object;
  NoticeClass notice_class = NoticeClass::hardware;
  NoticeChannel channel = NoticeChannel::ticket;
  NoticeState state = NoticeState::open;
  std::string summary;
  std::string runbook;
  bool drill = false;
  Instant opened_at;
  NoticeEvent pending = NoticeEvent::none;
  Instant due_at;
  int tries = 0;
  int told = 0;
  int repeats = 0;
  int given_up = 0;
  Instant told_at;
  std::string last_fault;
  std::string acknowledged_by;
  Instant acknowledged_at;
  Instant resolved_at;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "object", object, "kind/id that it is about: its key, one notice for each");
    f(3, "notice_class", notice_class, "class, which decides the channel");
    f(4, "channel", channel, "log, ticket or page");
    f(5, "state", state, "open, acknowledged or resolved");
    f(6, "summary", summary, "one sentence");
    f(7, "runbook", runbook, "what to read");
    f(8, "drill", drill, "injected on purpose");
    f(9, "opened_at", opened_at, "when");
    f(10, "pending", pending, "what is to be told next; none: nothing");
    f(11, "due_at", due_at, "when that is tried");
    f(12, "tries", tries, "failed tries of it");
    f(13, "told", told, "deliveries that arrived");
    f(14, "repeats", repeats, "how many of them were repeats");
    f(15, "given_up", given_up, "deliveries that were given up after their last try");
    f(16, "told_at", told_at, "last delivery that arrived");
    f(17, "last_fault", last_fault, "why the last try failed; empty: it did not");
    f(18, "acknowledged_by", acknowledged_by, "who looks after it");
    f(19, "acknowledged_at", acknowledged_at, "since when");
    f(20, "resolved_at", resolved_at, "when what it is about was over");
    f(21, "meta", meta, "name, revision");
  }
};

/// One delivery, as it is sent. The same key is the same delivery.
struct NoticeMessage {
  std::string key;
  NoticeEvent event = NoticeEvent::opened;
  Notice notice;
  std::optional<Incident> incident;
  void fields(Fields& f) {
    f(1, "key", key, "object, event and its number: a repeat of a try has the same key");
    f(2, "event", event, "opened, repeated, acknowledged or resolved");
    f(3, "notice", notice, "class, channel, summary, runbook, drill");
    f(4, "incident", incident, "as it is now, when the notice is about one");
  }
};

}  // namespace tundish
