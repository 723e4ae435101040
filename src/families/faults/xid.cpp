#include <algorithm>

#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

/// What the driver prints after the code, and what breaks in the simulated hardware.
/// Source: facts/health.md section 1c, shapes 1-11.
struct XidShape {
  int code;
  std::string_view detail;
  std::string_view effect;
};
constexpr XidShape shapes[] = {
    {13, "pid=4242, name=python3, Graphics SM Warp Exception on (GPC 2, TPC 1, SM 0): Illegal "
         "Instruction Parameter", "none"},
    {31, "pid=4242, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS "
         "GPCCLIENT_T1_0 faulted @ 0x7f4a_10000000", "none"},
    {43, "pid='<unknown>', name=<unknown>, Ch 00000008", "none"},
    {45, "pid=4242, name=python3, Ch 00000002", "none"},
    {48, "pid='<unknown>', name=<unknown>, DBE (double bit error) ECC error", "ecc_uncorrected"},
    {63, "pid='<unknown>', name=<unknown>, Row Remapper: New row (0x0000000000001a2b) marked for "
         "remapping, reset gpu to activate.", "none"},
    {64, "pid='<unknown>', name=<unknown>, Row Remapper Error: (0x0000000000001a2b) - All reserved "
         "rows for bank are remapped", "row_remap_failure"},
    {74, "pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 14(0x10000, 0x0, "
         "0x0, 0x0, 0x0, 0x0, 0x0)", "none"},
    {79, "pid=4242, name=python3, GPU has fallen off the bus.", "lost"},
    {94, "pid=4242, name=python3, Contained: SM (0x1). RST: No, D-RST: No", "none"},
    {95, "pid=4242, name=python3, Uncontained: FBHUB. RST: Yes, D-RST: No", "ecc_uncorrected"},
    {119, "pid=4242, name=python3, Timeout after 45s of waiting for RPC response from GPU0 GSP! "
          "Expected function 76 (GSP_RM_CONTROL) (0x20800a4c 0x4).", "gsp"},
};

Result<Injection> render(const FaultOrder& order) {
  const auto shape = std::find_if(std::begin(shapes), std::end(shapes),
                                  [&](const XidShape& s) { return s.code == order.xid; });
  if (shape == std::end(shapes) && order.text.empty()) {
    std::string known;
    for (const auto& s : shapes) known += (known.empty() ? "" : ", ") + std::to_string(s.code);
    return make_error(Code::unsupported, "no kernel line is known for XID " +
                                             std::to_string(order.xid))
        .with_remedy("use one of " + known + ", or give the line with --text");
  }
  if (order.pci.empty()) {
    return make_error(Code::invalid, "node " + order.node_name + " has no GPU " +
                                         std::to_string(order.gpu) + " on record");
  }
  Injection out;
  out.node_name = order.node_name;
  out.gpu = order.gpu;
  out.sticky = order.sticky;
  out.userspace = order.userspace;
  out.effect = order.userspace || shape == std::end(shapes) ? "none" : std::string(shape->effect);
  out.line = order.text;
  if (out.line.empty()) {
    out.line = "NVRM: Xid (PCI:" + order.pci + "): " + std::to_string(order.xid) + ", " +
               std::string(shape->detail);
  }
  return out;
}

}  // namespace

extern const Fault xid;
const Fault xid = {"xid", "an NVIDIA XID in the kernel log, with the hardware failing as it says",
                   "kernel line to incident below 100 ms",
                   "by the catalogue: 79 reboot, 95 reset, 64 RMA, 13/31/43/45 nothing", render};

}  // namespace tundish::families
