#include "families/storage/export_script.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "model/prefix.hpp"

namespace tundish::families {
namespace {

/// A server whose program does not know the verb `keys` leaves them unknown.
constexpr const char* look =
    "storage-export list\nstorage-export sessions\nstorage-export hostkey\n"
    "rc=0; storage-export keys || rc=$?\n"
    "case $rc in 0) echo keys told ;; 64) ;; *) exit $rc ;; esac\n";

std::string last_line(std::string_view text) {
  text = trim(text);
  return std::string(text.substr(text.rfind('\n') + 1).substr(0, 200));
}

/// Exit codes of the script, after sysexits.h.
Code code_of(int rc) {
  switch (rc) {
    case 64: return Code::invalid;
    case 66: return Code::not_found;
    case 73:
    case 75: return Code::conflict;
    case 74: return Code::internal;
    case 127: return Code::unsupported;
    default: return Code::unavailable;
  }
}

bool is_export_name(std::string_view text) {
  if (text.empty() || text.size() > 31 || text[0] < 'a' || text[0] > 'z') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

/// One line without a quote: it is written into a script.
bool is_key(std::string_view text) {
  return text.starts_with("ssh-ed25519 ") && text.size() < 300 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= 32 && c < 127 && c != '\'' && c != '\\'; });
}

Result<> check_change(const StorageRef& ref, const StorageChange& change) {
  const auto refuse = [&](const std::string& what) -> Result<> {
    return make_error(Code::invalid, "storage of fabric " + ref.fabric + ": " + what)
        .about("fabric/" + ref.fabric);
  };
  if (!is_export_name(change.export_name)) {
    return refuse("\"" + change.export_name + "\" is no name of an export");
  }
  if (!change.public_key.empty() && !is_key(change.public_key)) {
    return refuse("the key of export " + change.export_name + " is not one line of ssh-ed25519");
  }
  for (const auto* list : {&change.revoke, &change.grant}) {
    for (const auto& address : *list) {
      if (!parse_ipv4(address)) return refuse("\"" + address + "\" is no IPv4 address");
    }
  }
  return {};
}

/// Who leaves, leaves first; then it is read back.
std::string script_of(const StorageChange& change) {
  std::string out;
  const std::string& name = change.export_name;
  for (const auto& address : change.revoke) {
    out += "storage-export revoke " + name + " " + address + "\n";
  }
  if (!change.public_key.empty()) {
    out += "printf '%s\\n' '" + change.public_key + "' | storage-export create " + name + "\n";
  }
  for (const auto& address : change.grant) {
    out += "storage-export grant " + name + " " + address + "\n";
  }
  return out + look;
}

std::string contradiction(const StorageSeen& seen, const StorageChange& change) {
  std::set<std::string> granted, anywhere, in_use;
  bool there = false;
  for (const auto& one : seen.exports) {
    anywhere.insert(one.addresses.begin(), one.addresses.end());
    if (one.name != change.export_name) continue;
    there = true;
    granted.insert(one.addresses.begin(), one.addresses.end());
  }
  for (const auto& one : seen.sessions) in_use.insert(one.address);
  if (!there) return "there is no export " + change.export_name;
  for (const auto& address : change.revoke) {
    if (anywhere.contains(address)) return address + " is still granted";
    if (in_use.contains(address)) return address + " still has a session";
  }
  for (const auto& address : change.grant) {
    if (!granted.contains(address)) return address + " is not granted";
  }
  return "";
}

Error unclear(std::string_view line) {
  return make_error(Code::corrupt,
                    "the storage says what is not understood: " + std::string(line.substr(0, 100)));
}

}  // namespace

Result<StorageSeen> parse_exports(std::string_view text) {
  StorageSeen out;
  std::map<std::string, std::vector<std::string>> keys;
  for (const auto& line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    const auto words = split(line, ' ');
    if (words[0] == "gone" && words.size() == 2) continue;  // of a revocation before the look
    if (words[0] == "hostkey" && words.size() >= 3) {
      out.identity_key = words[1] + " " + words[2];
    } else if (words[0] == "export" && words.size() >= 2 && is_export_name(words[1])) {
      StorageExport one{words[1], {words.begin() + 2, words.end()}, {}};
      for (const auto& address : one.addresses) {
        if (!parse_ipv4(address)) return unclear(line);
      }
      std::sort(one.addresses.begin(), one.addresses.end());
      out.exports.push_back(std::move(one));
    } else if (words[0] == "session" && words.size() >= 3 && parse_ipv4(words[2])) {
      out.sessions.push_back({words[1] == "-" ? "" : words[1], words[2]});
    } else if (words[0] == "key" && words.size() == 4 && is_export_name(words[1])) {
      keys[words[1]].push_back(words[2] + " " + words[3]);
    } else if (line == "keys told") {
      out.shows_keys = true;
    } else {
      return unclear(line);
    }
  }
  if (out.identity_key.empty()) return unclear("(it shows no key of its own)");
  for (auto& one : out.exports) {
    one.keys = std::move(keys[one.name]);
    std::ranges::sort(one.keys);
  }
  std::ranges::sort(out.exports, {}, &StorageExport::name);
  std::ranges::sort(out.sessions, {}, &StorageSession::address);
  const auto same = std::unique(out.sessions.begin(), out.sessions.end());
  out.sessions.erase(same, out.sessions.end());
  return out;
}

void ExportScriptStorage::run(const StorageRef& ref, std::string script, Duration limit,
                              ReadDone done) {
  ExecRequest request;
  request.target = ref.management_url;
  request.argv = {"sh", "-eu"};
  request.input = std::move(script);
  exec_.start(std::move(request), limit,
              [fabric = ref.fabric, done = std::move(done)](Result<ExecOutput> output) {
                const std::string who = "storage of fabric " + fabric;
                if (!output) return done(Error(output.error()).wrap(who));
                if (output->rc != 0) {
                  return done(make_error(code_of(output->rc), who + ": " + last_line(output->err) +
                                                                  " (exit " +
                                                                  std::to_string(output->rc) + ")")
                                  .about("fabric/" + fabric));
                }
                auto seen = parse_exports(output->out);
                if (!seen) return done(Error(seen.error()).wrap(who));
                done(std::move(*seen));
              });
}

void ExportScriptStorage::apply(const StorageRef& ref, const StorageChange& change, Duration limit,
                                Done done) {
  if (const auto checked = check_change(ref, change); !checked) return done(checked.error());
  run(ref, script_of(change), limit,
      [change, fabric = ref.fabric, done = std::move(done)](Result<StorageSeen> seen) {
        if (!seen) return done(seen.error());
        const std::string wrong = contradiction(*seen, change);
        if (wrong.empty()) return done({});
        done(make_error(Code::conflict,
                        "storage of fabric " + fabric + ": it said done, but " + wrong)
                 .about("fabric/" + fabric));
      });
}

void ExportScriptStorage::read(const StorageRef& ref, Duration limit, ReadDone done) {
  run(ref, look, limit, std::move(done));
}

}  // namespace tundish::families
