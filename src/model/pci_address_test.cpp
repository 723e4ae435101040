#include "model/pci_address.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

TEST(PciAddress, spellings_of_one_device_compare_equal) {
  for (const char* text :
       {"PCI:000b:01:00", "000b:01:00", "0000000B:01:00.0", "b:01:00", "PCI:000B:01:00.0"}) {
    EXPECT_EQ(normalise_pci(text), "000b:01:00") << text;
  }
  EXPECT_EQ(normalise_pci("00000018:01:00.0"), "0018:01:00");
  EXPECT_EQ(normalise_pci("10000:01:1f.7"), "10000:01:1f");
}

TEST(PciAddress, what_is_not_wholly_an_address_is_refused) {
  for (const char* text : {"", "PCI:", "0000:3b", "0000:3b:00:00", "0000:3b:00.8", "0000:3b:20",
                           "0000:3b:0g", "-000:3b:00", "000000000:3b:00", "0000:3b:00 ",
                           "0000:3b:00.", "+1:3b:00", "PCI:PCI:0000:3b:00"}) {
    EXPECT_EQ(normalise_pci(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tundish
