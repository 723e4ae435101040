#pragma once
// NVIDIA UFM's PKey REST API as far as the documents say, over HTTP. Keeps apart what it took and
// what it shows. Shares no code with src/families.
// Source: UFM Enterprise REST API Guide 6.22, PKey GUIDs; nv-config-manager 72 (the last GUID);
// NICo 572 (an invisible partition); checked 2026-11
#include <map>
#include <string>
#include <vector>

#include "ports/wire.hpp"

namespace tundish::sims {

struct UfmKnobs {
  bool takes_and_does_nothing = false;  ///< answers 200
  bool does_half = false;               ///< of a list of GUIDs only the first half
  int shows_late = 0;                   ///< reads until a change shows
  int times_out = 0;                    ///< so many calls happen and are never answered
  int hides_new = 0;                    ///< reads for which a new partition is not shown
};

class Ufm {
 public:
  UfmKnobs knobs;
  std::vector<std::string> calls;  ///< "POST /resources/pkeys/add {...}", writes only

  struct Member {
    bool operator==(const Member&) const = default;
    std::string membership;
    bool index0 = false;
  };
  struct Pkey {
    std::string name;
    bool ip_over_ib = true;
    int mtu_limit = 2, service_level = 0;
    double rate_limit = 2.5;
    std::map<std::string, Member> guids;
    int hidden = 0;  ///< reads left
    bool operator==(const Pkey&) const = default;
  };
  std::map<std::string, Pkey> pkeys;  ///< as they are

  struct Answer {
    HttpResponse response;
    bool is_lost = false;  ///< it happened, and nobody hears of it
  };
  /// `path` without the query, `query` the part behind '?'.
  Answer answer(const std::string& method, const std::string& path, const std::string& query,
                const std::string& body);

 private:
  HttpResponse write(const std::string& method, const std::string& path, const std::string& body);
  HttpResponse create(const std::string& body);
  HttpResponse add(const std::string& body);
  HttpResponse set(const std::string& body);
  HttpResponse remove(const std::string& body);
  std::string show(const std::string& query);

  std::map<std::string, Pkey> shown_;
  int late_ = 0;
};

}  // namespace tundish::sims
