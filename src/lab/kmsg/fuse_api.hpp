#pragma once
// The version of libfuse's interface this folder is written against. Source: libfuse 3.14, fuse3.
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
