#include "families/switches/driver_nvue.hpp"

#include "base/text.hpp"

namespace tundish::switches {
namespace {

constexpr Duration poll_after = milliseconds(200);

/// Names of revisions may hold slashes: changeset/cumulus/2026-11-02_16.09.18_5Z1K.
std::string in_url(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '_' || c == '.';
    if (plain) {
      out += c;
    } else {
      constexpr std::string_view digits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return out;
}

/// Every issue that the switch names.
std::string issues_of(const JsonValue& revision) {
  std::string out = revision.at("transition").at("progress").as_text().value_or("");
  for (const auto& [number, issue] : revision.at("transition").at("issue").members()) {
    out += (out.empty() ? "" : "; ") + issue.at("message").as_text().value_or(issue.render());
  }
  return out;
}

}  // namespace

void NvueTransport::call(const SwitchRef& ref, const std::string& method, const std::string& path,
                         std::string body, Duration limit, JsonDone done) {
  HttpRequest request;
  request.method = method;
  request.url = ref.management_url + "/nvue_v1/" + path;
  request.body = std::move(body);
  call_json(wire_, login_, std::move(request), limit, std::move(done));
}

void NvueTransport::fetch(const SwitchRef& ref, Duration limit, FetchDone done) {
  call(ref, "GET", "?rev=applied&filled=false", "", limit,
       [this, ref, limit, done](const Result<JsonValue>& tree) {
         if (!tree) return done(tree.error());
         SwitchFetched out;
         out.files = {{"nvue.json", tree->render(1)}};
         call(ref, "GET", "interface?rev=operational", "", limit,
              [out, done](const Result<JsonValue>& ports) mutable {
                if (!ports) return done(ports.error());
                for (const auto& [port, seen] : ports->members()) {
                  const auto state = seen.at("link").at("oper-status").as_text();
                  if (state == "up") out.facts.ports_up.push_back(port);
                }
                done(std::move(out));
              });
       });
}

void NvueTransport::run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode,
                        Duration limit, Done done) {
  auto change = std::make_shared<Change>();
  change->ref = ref;
  change->steps = steps;
  change->limit = limit;
  change->until = scheduler_.now() + limit;
  change->done = std::move(done);
  call(ref, "POST", "revision", "", limit, [this, change](const Result<JsonValue>& made) {
    if (!made) return change->done(made.error());
    const auto members = made->members();
    if (members.size() != 1) {
      return change->done(make_error(Code::unavailable, "NVUE made no revision"));
    }
    change->revision = in_url(members[0].first);
    patch(change);
  });
}

void NvueTransport::patch(const ChangePtr& change) {
  if (change->next == change->steps.size()) return apply(change);
  const SwitchStep& step = change->steps[change->next++];
  call(change->ref, "PATCH", "?rev=" + change->revision, step.text, change->limit,
       [this, change, what = step.what](const Result<JsonValue>& done) {
         if (!done) return drop(change, Error(done.error()).wrap(what));
         patch(change);
       });
}

void NvueTransport::apply(const ChangePtr& change) {
  call(change->ref, "PATCH", "revision/" + change->revision,
       R"({"state":"apply","auto-prompt":{"ays":"ays_yes"}})", change->limit,
       [this, change](const Result<JsonValue>& done) {
         if (!done) return change->done(done.error());
         poll(change);
       });
}

void NvueTransport::poll(const ChangePtr& change) {
  call(change->ref, "GET", "revision/" + change->revision, "", change->limit,
       [this, change](const Result<JsonValue>& seen) {
         if (!seen) return change->done(seen.error());
         const std::string state = seen->at("state").as_text().value_or("");
         if (state == "applied") return change->done({});
         for (const char* failed : {"invalid", "ays_fail", "apply_fail", "ignore_fail", "failed"}) {
           if (state != failed) continue;
           return drop(change, make_error(Code::unavailable,
                                          "NVUE says " + state + ": " + issues_of(*seen)));
         }
         if (scheduler_.now() >= change->until) {
           return change->done(
               make_error(Code::timeout, "the revision is still in state \"" + state + "\""));
         }
         scheduler_.at(scheduler_.now() + poll_after, [this, change] { poll(change); });
       });
}

/// A revision that was not applied changes nothing; it is only cleared away.
void NvueTransport::drop(const ChangePtr& change, const Error& why) {
  call(change->ref, "DELETE", "revision/" + change->revision, "", change->limit,
       [change, why](const Result<JsonValue>&) { change->done(why); });
}

void NvueTransport::confirm(const SwitchRef& ref, const SwitchState&, Duration limit, Done done) {
  call(ref, "PATCH", "revision/applied", R"({"state":"save","auto-prompt":{"ays":"ays_yes"}})",
       limit, [done = std::move(done)](const Result<JsonValue>& saved) {
         done(saved ? Result<>{} : Error(saved.error()).wrap("works but is not saved"));
       });
}

}  // namespace tundish::switches
