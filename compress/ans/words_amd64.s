#include "go_asm.h"
#include "textflag.h"

// ENCODE encodes decisions of eight lanes, whose states are y, as encodePlain: their starts are at (SI), and sizes less 1 at 32(SI).
#define ENCODE(y, at) \
	VPMOVZXWD at(SI), Y2 \
	VPMOVZXWD (at+32)(SI), Y3 \
	VPSUBD Y15, Y3, Y4 \ // sizes
	VPSRLD $16, y, Y5 \
	VPSRLD X11, y, Y6 \
	VPCMPGTD Y3, Y6, Y6 \ // states that give a word
	VPBLENDW $0xaa, Y14, y, Y7 \ // the words, before those that were given
	VPACKUSDW Y7, Y7, Y7 \
	VPERMQ $8, Y7, Y7 \
	VMOVMSKPS Y6, AX \
	VPBLENDVB Y6, Y5, y, y \
	MOVL AX, BX \
	SHLL $4, BX \
	VPSHUFB Tables_places(R9)(BX*1), X7, X7 \
	VMOVDQU X7, -16(DI) \
	POPCNTL AX, AX \
	SUBQ AX, DI \
	SUBQ AX, DI \
	VPSRLD $1, y, Y5 \ // half of the state, since it may have 32 bits
	VCVTDQ2PS Y5, Y5 \
	VCVTDQ2PS Y4, Y6 \
	VDIVPS Y6, Y13, Y6 \
	VMULPS Y6, Y5, Y5 \
	VCVTTPS2DQ Y5, Y5 \ // the quotient, or 1 more or less
	VPMULLD Y4, Y5, Y6 \
	VPSUBD Y6, y, Y6 \ // what remains
	VPSRAD $31, Y6, Y7 \
	VPADDD Y7, Y5, Y5 \
	VPAND Y7, Y4, Y7 \
	VPADDD Y7, Y6, Y6 \
	VPCMPGTD Y3, Y6, Y7 \
	VPSUBD Y7, Y5, Y5 \
	VPAND Y7, Y4, Y7 \
	VPSUBD Y7, Y6, Y6 \
	VPSLLD X12, Y5, Y5 \
	VPADDD Y6, Y5, Y5 \
	VPADDD Y2, Y5, y

// func encodeVector(decisions *uint16, n int, states *[Lanes]uint32, t *Tables, bits uint) int
TEXT ·encodeVector(SB), NOSPLIT, $0-48
	MOVQ decisions+0(FP), R8
	MOVQ n+8(FP), SI
	MOVQ states+16(FP), R10
	LEAQ (R8)(SI*2), SI  // the decisions that are left end here
	MOVQ SI, DI          // the words begin here
	MOVQ t+24(FP), R9
	MOVQ bits+32(FP), AX
	VMOVQ AX, X12
	NEGL AX
	ADDL $32, AX
	VMOVQ AX, X11
	MOVL $0x40000000, AX
	VMOVD AX, X13
	VPBROADCASTD X13, Y13 // 2.0
	VPCMPEQD Y15, Y15, Y15
	VPXOR Y14, Y14, Y14
	VMOVDQU (R10), Y0
	VMOVDQU 32(R10), Y1

round:
	CMPQ SI, R8
	JEQ end
	SUBQ $64, SI
	ENCODE(Y1, 16)
	ENCODE(Y0, 0)
	JMP round

end:
	VMOVDQU Y0, (R10)
	VMOVDQU Y1, 32(R10)
	SUBQ R8, DI
	SHRQ $1, DI
	MOVQ DI, ret+40(FP)
	VZEROUPPER
	RET
