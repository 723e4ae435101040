// Written by hand; accepted by ptxas 12.9 for sm_80, sm_90 and sm_100, not yet run on a GPU.
// Source: PTX ISA, mma.sync.m16n8k16 (which lane holds which element), ld and st.global, the call
// ABI; checked 2026-11.
#include "runtime/agent/gpu_kernels.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace tundish::agent {
namespace {

constexpr const char* kernels = R"ptx(
.version 7.0
.target sm_80
.address_size 64

// Word i under a seed: a hash, so that neighbours differ in about half of their bits.
.func (.reg .u32 %out) word(.reg .u32 %i, .reg .u32 %seed)
{
  .reg .u32 %x, %y;
  mad.lo.u32 %x, %i, 0x9E3779B1, %seed;
  shr.u32 %y, %x, 15;
  xor.b32 %x, %x, %y;
  mul.lo.u32 %x, %x, 0x2C1B3C6D;
  shr.u32 %y, %x, 12;
  xor.b32 %out, %x, %y;
  ret;
}

// This thread's number.
.func (.reg .u64 %first) first_quad()
{
  .reg .u32 %block, %size, %lane;
  .reg .u64 %own;
  mov.u32 %block, %ctaid.x;
  mov.u32 %size, %ntid.x;
  mov.u32 %lane, %tid.x;
  mul.wide.u32 %first, %block, %size;
  cvt.u64.u32 %own, %lane;
  add.u64 %first, %first, %own;
  ret;
}

// How many threads there are.
.func (.reg .u64 %step) all_threads()
{
  .reg .u32 %size, %blocks;
  mov.u32 %size, %ntid.x;
  mov.u32 %blocks, %nctaid.x;
  mul.wide.u32 %step, %size, %blocks;
  ret;
}

// Adds to the counter of the processor that this thread runs on.
.func blame(.reg .u64 %wrong, .reg .u32 %count)
{
  .reg .u32 %sm, %old;
  .reg .u64 %at;
  mov.u32 %sm, %smid;
  and.b32 %sm, %sm, 1023;
  mul.wide.u32 %at, %sm, 4;
  add.u64 %at, %at, %wrong;
  atom.global.add.u32 %old, [%at], %count;
  ret;
}

.visible .entry fill(.param .u64 p_words, .param .u64 p_quads, .param .u32 p_seed)
{
  .reg .u64 %words, %quads, %q, %step, %at;
  .reg .u32 %seed, %i, %a, %b, %c, %d;
  .reg .pred %end;
  ld.param.u64 %words, [p_words];
  cvta.to.global.u64 %words, %words;
  ld.param.u64 %quads, [p_quads];
  ld.param.u32 %seed, [p_seed];
  call (%q), first_quad, ();
  call (%step), all_threads, ();
again:
  setp.ge.u64 %end, %q, %quads;
  @%end bra done;
  cvt.u32.u64 %i, %q;
  shl.b32 %i, %i, 2;
  call (%a), word, (%i, %seed);
  add.u32 %i, %i, 1;
  call (%b), word, (%i, %seed);
  add.u32 %i, %i, 1;
  call (%c), word, (%i, %seed);
  add.u32 %i, %i, 1;
  call (%d), word, (%i, %seed);
  shl.b64 %at, %q, 4;
  add.u64 %at, %at, %words;
  st.global.v4.u32 [%at], {%a, %b, %c, %d};
  add.u64 %q, %q, %step;
  bra again;
done:
  ret;
}

.visible .entry compare(.param .u64 p_words, .param .u64 p_quads, .param .u32 p_seed,
                        .param .u64 p_wrong)
{
  .reg .u64 %words, %quads, %q, %step, %at, %wrong;
  .reg .u32 %seed, %i, %a, %b, %c, %d, %want, %count, %one;
  .reg .pred %end, %same;
  ld.param.u64 %words, [p_words];
  cvta.to.global.u64 %words, %words;
  ld.param.u64 %quads, [p_quads];
  ld.param.u32 %seed, [p_seed];
  ld.param.u64 %wrong, [p_wrong];
  cvta.to.global.u64 %wrong, %wrong;
  mov.u32 %count, 0;
  call (%q), first_quad, ();
  call (%step), all_threads, ();
again:
  setp.ge.u64 %end, %q, %quads;
  @%end bra done;
  shl.b64 %at, %q, 4;
  add.u64 %at, %at, %words;
  ld.global.v4.u32 {%a, %b, %c, %d}, [%at];
  cvt.u32.u64 %i, %q;
  shl.b32 %i, %i, 2;
  call (%want), word, (%i, %seed);
  setp.ne.u32 %same, %want, %a;
  selp.u32 %one, 1, 0, %same;
  add.u32 %count, %count, %one;
  add.u32 %i, %i, 1;
  call (%want), word, (%i, %seed);
  setp.ne.u32 %same, %want, %b;
  selp.u32 %one, 1, 0, %same;
  add.u32 %count, %count, %one;
  add.u32 %i, %i, 1;
  call (%want), word, (%i, %seed);
  setp.ne.u32 %same, %want, %c;
  selp.u32 %one, 1, 0, %same;
  add.u32 %count, %count, %one;
  add.u32 %i, %i, 1;
  call (%want), word, (%i, %seed);
  setp.ne.u32 %same, %want, %d;
  selp.u32 %one, 1, 0, %same;
  add.u32 %count, %count, %one;
  add.u64 %q, %q, %step;
  bra again;
done:
  setp.eq.u32 %end, %count, 0;
  @%end bra quiet;
  call blame, (%wrong, %count);
quiet:
  ret;
}

.visible .entry copy(.param .u64 p_to, .param .u64 p_from, .param .u64 p_quads)
{
  .reg .u64 %to, %from, %quads, %q, %step, %at, %source;
  .reg .u32 %a, %b, %c, %d;
  .reg .pred %end;
  ld.param.u64 %to, [p_to];
  cvta.to.global.u64 %to, %to;
  ld.param.u64 %from, [p_from];
  cvta.to.global.u64 %from, %from;
  ld.param.u64 %quads, [p_quads];
  call (%q), first_quad, ();
  call (%step), all_threads, ();
again:
  setp.ge.u64 %end, %q, %quads;
  @%end bra done;
  shl.b64 %at, %q, 4;
  add.u64 %source, %at, %from;
  add.u64 %at, %at, %to;
  ld.global.v4.u32 {%a, %b, %c, %d}, [%source];
  st.global.v4.u32 [%at], {%a, %b, %c, %d};
  add.u64 %q, %q, %step;
  bra again;
done:
  ret;
}

// Every warp multiplies the same 16x16 by 16x8 small whole numbers, in eight sums at once that
// start at 0 to 7 (equal ones would be computed once), and compares sum s with
// rounds * expected + s: below 2^24 such sums are exact in any order.
.visible .entry matrix(.param .u64 p_a, .param .u64 p_b, .param .u64 p_expected,
                       .param .u32 p_rounds, .param .u64 p_wrong)
{
  .reg .u64 %pa, %pb, %pe, %at, %wrong;
  .reg .u32 %rounds, %lane, %group, %member, %row, %off, %count, %one, %round;
  .reg .b32 %a0, %a1, %a2, %a3, %b0, %b1;
  .reg .f32 %e<4>, %times, %want;
  .reg .f32 %c<32>;
  .reg .pred %more, %differ, %quiet;
  ld.param.u64 %pa, [p_a];
  cvta.to.global.u64 %pa, %pa;
  ld.param.u64 %pb, [p_b];
  cvta.to.global.u64 %pb, %pb;
  ld.param.u64 %pe, [p_expected];
  cvta.to.global.u64 %pe, %pe;
  ld.param.u32 %rounds, [p_rounds];
  ld.param.u64 %wrong, [p_wrong];
  cvta.to.global.u64 %wrong, %wrong;
  mov.u32 %lane, %tid.x;
  and.b32 %lane, %lane, 31;
  shr.u32 %group, %lane, 2;
  and.b32 %member, %lane, 3;
  shl.b32 %row, %group, 5;
  shl.b32 %off, %member, 2;
  add.u32 %off, %off, %row;
  cvt.u64.u32 %at, %off;
  add.u64 %pa, %pa, %at;
  add.u64 %pb, %pb, %at;
  ld.global.b32 %a0, [%pa];
  ld.global.b32 %a1, [%pa+256];
  ld.global.b32 %a2, [%pa+16];
  ld.global.b32 %a3, [%pa+272];
  ld.global.b32 %b0, [%pb];
  ld.global.b32 %b1, [%pb+16];
  shl.b32 %off, %member, 3;
  add.u32 %off, %off, %row;
  cvt.u64.u32 %at, %off;
  add.u64 %pe, %pe, %at;
  ld.global.v2.f32 {%e0, %e1}, [%pe];
  ld.global.v2.f32 {%e2, %e3}, [%pe+256];
@START@
  mov.u32 %round, 0;
again:
@PRODUCTS@
  add.u32 %round, %round, 1;
  setp.lt.u32 %more, %round, %rounds;
  @%more bra again;
  cvt.rn.f32.u32 %times, %rounds;
  mov.u32 %count, 0;
@COMPARE@
  setp.eq.u32 %quiet, %count, 0;
  @%quiet bra end;
  call blame, (%wrong, %count);
end:
  ret;
}
)ptx";

constexpr int sums = products_per_round * 4;  // registers: a lane holds four elements of each

/// In IEEE hexadecimal, as the assembler wants it.
constexpr const char* small_number[products_per_round] = {"0f00000000", "0f3F800000", "0f40000000",
                                                          "0f40400000", "0f40800000", "0f40A00000",
                                                          "0f40C00000", "0f40E00000"};

std::string start_text() {
  std::string out;
  for (int i = 0; i < sums; ++i) {
    out += fmt::format("  mov.f32 %c{}, {};\n", i, small_number[i / 4]);
  }
  return out;
}

std::string products_text() {
  std::string out;
  for (int i = 0; i < sums; i += 4) {
    const std::string sum = fmt::format("{{%c{}, %c{}, %c{}, %c{}}}", i, i + 1, i + 2, i + 3);
    out += "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + sum +
           ", {%a0, %a1, %a2, %a3}, {%b0, %b1}, " + sum + ";\n";
  }
  return out;
}

std::string compare_text() {
  std::string out;
  for (int i = 0; i < sums; ++i) {
    out += fmt::format("  fma.rn.f32 %want, %e{}, %times, {};\n", i % 4, small_number[i / 4]);
    out += fmt::format("  setp.neu.f32 %differ, %c{}, %want;\n", i);
    out += "  selp.u32 %one, 1, 0, %differ;\n  add.u32 %count, %count, %one;\n";
  }
  return out;
}

}  // namespace

std::string gpu_kernel_text() {
  std::string text = kernels;
  const auto put = [&text](std::string_view mark, const std::string& part) {
    text.replace(text.find(mark), mark.size(), part);
  };
  put("@START@\n", start_text());
  put("@PRODUCTS@\n", products_text());
  put("@COMPARE@\n", compare_text());
  return text;
}

}  // namespace tundish::agent
