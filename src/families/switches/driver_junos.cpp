#include "families/switches/driver_junos.hpp"

#include "base/text.hpp"
#include "families/switches/driver_lldp.hpp"

namespace tundish::switches {
namespace {

/// Minutes; the shortest is 1. Long enough for a read-back and its repetitions.
constexpr const char* confirmed =
    "<commit-configuration><confirmed/><confirm-timeout>2</confirm-timeout></commit-configuration>";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string plain(std::string_view text) {
  std::string out(text);
  for (const auto& [name, sign] :
       {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&quot;", "\""),
        std::pair("&apos;", "'"), std::pair("&amp;", "&")}) {
    for (auto at = out.find(name); at != std::string::npos; at = out.find(name, at + 1)) {
      out.replace(at, std::string_view(name).size(), sign);
    }
  }
  return out;
}

/// The texts between <name ...> and </name>, in their order. Tags of one name do not nest here.
std::vector<std::string_view> inside(std::string_view xml, const std::string& name) {
  std::vector<std::string_view> out;
  const std::string close = "</" + name + ">";
  for (std::size_t at = xml.find("<" + name); at != std::string_view::npos;
       at = xml.find("<" + name, at)) {
    const char next = at + name.size() + 1 < xml.size() ? xml[at + name.size() + 1] : ' ';
    const auto begin = xml.find('>', at);
    const auto end = begin == std::string_view::npos ? begin : xml.find(close, begin);
    at += name.size() + 1;
    if (next != '>' && next != ' ' && next != '\n') continue;
    if (end == std::string_view::npos) break;
    if (xml[begin - 1] == '/') continue;
    out.push_back(xml.substr(begin + 1, end - begin - 1));
    at = end + close.size();
  }
  return out;
}

std::string first_of(std::string_view xml, const std::string& name) {
  const auto all = inside(xml, name);
  return all.empty() ? "" : plain(trim(all.front()));
}

/// A port itself, not one of its units.
void read_ports(std::string_view xml, SwitchFacts& facts) {
  for (const auto port : inside(xml, "physical-interface")) {
    if (first_of(port, "oper-status") == "up") facts.ports_up.push_back(first_of(port, "name"));
  }
}

void read_neighbours(std::string_view xml, SwitchFacts& facts) {
  for (const auto far : inside(xml, "lldp-neighbor-information")) {
    std::string port = first_of(far, "lldp-local-port-id");
    if (port.empty()) port = first_of(far, "lldp-local-interface");
    std::string device_port = first_of(far, "lldp-remote-port-id");
    if (device_port.empty()) device_port = first_of(far, "lldp-remote-port-description");
    facts.neighbours.push_back(
        {port, first_of(far, "lldp-remote-system-name"), device_port, plain_mac(device_port)});
  }
}

/// Warnings are no errors. Both NETCONF's and Junos' own form.
Result<> no_error(std::string_view answer) {
  for (const char* const tag : {"rpc-error", "xnm:error"}) {
    for (const auto error : inside(answer, tag)) {
      if (first_of(error, "error-severity") == "warning") continue;
      std::string said = first_of(error, "error-message");
      if (said.empty()) said = first_of(error, "message");
      const std::string where = first_of(error, "bad-element");
      return make_error(Code::unavailable,
                        "Junos says: " + said + (where.empty() ? "" : " (" + where + ")"));
    }
  }
  return {};
}

}  // namespace

void JunosTransport::call(const SwitchRef& ref, const std::string& procedures, Duration limit,
                          TextDone done) {
  HttpRequest request;
  request.method = "POST";
  request.url = ref.management_url + "/rpc?stop-on-error=1";
  request.headers["content-type"] = "application/xml";
  request.headers["accept"] = "application/xml";
  if (!login_.authorization.empty()) request.headers["authorization"] = login_.authorization;
  request.body = procedures;
  wire_.start(
      std::move(request), limit, [done = std::move(done)](const Result<HttpResponse>& response) {
        if (!response) return done(response.error());
        if (response->status == 401 || response->status == 403) {
          return done(make_error(Code::denied, "its API refuses our login")
                          .with_remedy("correct the switch's secret"));
        }
        const auto fine = no_error(response->body);
        if (!fine) return done(fine.error());
        if (response->status >= 300) {
          return done(make_error(Code::unavailable, "answered " + std::to_string(response->status) +
                                                        " " + std::string(trim(response->body))));
        }
        done(response->body);
      });
}

void JunosTransport::fetch(const SwitchRef& ref, Duration limit, FetchDone done) {
  call(ref,
       "<get-configuration database=\"committed\" format=\"set\"/>"
       "<get-interface-information><terse/></get-interface-information>"
       "<get-lldp-neighbors-information/>",
       limit, [done = std::move(done)](const Result<std::string>& answer) {
         if (!answer) return done(answer.error());
         const auto config = inside(*answer, "configuration-set");
         if (config.size() != 1) {
           return done(make_error(Code::unavailable, "its answer holds no configuration"));
         }
         SwitchFetched out;
         out.files = {{"configuration", plain(config.front())}};
         read_ports(*answer, out.facts);
         read_neighbours(*answer, out.facts);
         done(std::move(out));
       });
}

/// The lock goes with the request; what was loaded and not committed goes with the lock.
void JunosTransport::run(const SwitchRef& ref, const std::vector<SwitchStep>& steps, StepMode,
                         Duration limit, Done done) {
  std::string text;
  for (const auto& step : steps) text += step.text;
  call(ref,
       "<lock-configuration/><load-configuration action=\"set\" format=\"text\">"
       "<configuration-set>" +
           escaped(text) + "</configuration-set></load-configuration>" + confirmed +
           "<unlock-configuration/>",
       limit, [done = std::move(done)](const Result<std::string>& answer) {
         done(answer ? Result<>{} : answer.error());
       });
}

/// What is committed is also what it starts with.
void JunosTransport::confirm(const SwitchRef& ref, const SwitchState&, Duration limit, Done done) {
  call(ref, "<commit-configuration/>", limit,
       [done = std::move(done)](const Result<std::string>& answer) {
         done(answer ? Result<>{} : Error(answer.error()).wrap("works but is not confirmed"));
       });
}

}  // namespace tundish::switches
