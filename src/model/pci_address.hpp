#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tundish {

/// One spelling for the many of a PCI device: "0000:3b:00", lower case, domain of four digits or
/// more, no function. The kernel omits the function, NVML prints eight upper-case digits of domain,
/// NVSwitch and amdgpu print the function: unless they compare equal, blame falls on the wrong
/// card. Accepts an optional "PCI:" in front; nullopt for anything that is not wholly an address.
std::optional<std::string> normalise_pci(std::string_view text);

}  // namespace tundish
