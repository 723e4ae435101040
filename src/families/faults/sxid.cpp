#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  // An HGX board has four switches; their addresses are not in the inventory.
  // Shape 16 of facts/health.md section 1c.
  const int code = order.xid == 0 ? 20034 : order.xid;
  if (code != 20034 && code != 12028 && code != 11001 && order.text.empty()) {
    return make_error(Code::unsupported, "no line is known for SXid " + std::to_string(code))
        .with_remedy("use 20034, 12028 or 11001, or give the line with --text");
  }
  const std::string words = code == 12028
                                ? "Non-fatal, Link 32 egress non-posted PRIV error (First)"
                            : code == 11001 ? "Fatal, Link 32 ingress invalid command (First)"
                                            : "Fatal, Link 30 LTSSM Fault Up";
  const std::string line =
      "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): " + std::to_string(code) + ", " + words;
  return make_injection(order, {"none", line});
}

}  // namespace

extern const Fault sxid;
const Fault sxid = {"sxid",
                    "an NVSwitch reports a fatal error of a port: SXid 20034, or --xid CODE; "
                    "sympathetic lines follow",
                    "kernel line to incident below 100 ms; the word Fatal of the line decides",
                    "fabric: the domain, not one node", render};

}  // namespace tundish::families
