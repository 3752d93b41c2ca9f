#include "go_asm.h"
#include "textflag.h"

// A tile is 16 steps of 16 lanes. Y0 to Y7 have its rows k and k + 8, one in each half.

DATA high<>+0(SB)/8, $0x7070707070707070
DATA high<>+8(SB)/8, $0x7070707070707070
DATA high<>+16(SB)/8, $0x7070707070707070
DATA high<>+24(SB)/8, $0x7070707070707070
DATA sixteen<>+0(SB)/1, $16
GLOBL high<>(SB), RODATA|NOPTR, $32
GLOBL sixteen<>(SB), RODATA|NOPTR, $1

// CODES sets the registers of CODE: AX is where 64 codes are, Y12 the first number that has one.
#define CODES \
	VBROADCASTI128 (AX), Y8 \
	VBROADCASTI128 16(AX), Y9 \
	VBROADCASTI128 32(AX), Y10 \
	VBROADCASTI128 48(AX), Y11 \
	VPBROADCASTB sixteen<>(SB), Y13

// SIXTEEN sets to to the codes of the numbers below 16, and to 0 for all others.
#define SIXTEEN(y, codes, to) \
	VPADDUSB high<>(SB), y, to \
	VPSHUFB to, codes, to

// CODE replaces numbers by their codes.
#define CODE(y) \
	VPSUBB Y12, y, y \
	SIXTEEN(y, Y8, Y15) \
	VPSUBB Y13, y, y \
	SIXTEEN(y, Y9, Y14) \
	VPOR Y14, Y15, Y15 \
	VPSUBB Y13, y, y \
	SIXTEEN(y, Y10, Y14) \
	VPOR Y14, Y15, Y15 \
	VPSUBB Y13, y, y \
	SIXTEEN(y, Y11, Y14) \
	VPOR Y14, Y15, y

#define CODEALL \
	CODE(Y0) \
	CODE(Y1) \
	CODE(Y2) \
	CODE(Y3) \
	CODE(Y4) \
	CODE(Y5) \
	CODE(Y6) \
	CODE(Y7)

// SHUFFLE merges the bytes of a and b, of c and d, ...: three times, it makes columns of the eight rows of a half.
#define SHUFFLE(a, b, c, d, e, f, g, h, a1, b1, c1, d1, e1, f1, g1, h1) \
	VPUNPCKLBW b, a, a1 \
	VPUNPCKHBW b, a, b1 \
	VPUNPCKLBW d, c, c1 \
	VPUNPCKHBW d, c, d1 \
	VPUNPCKLBW f, e, e1 \
	VPUNPCKHBW f, e, f1 \
	VPUNPCKLBW h, g, g1 \
	VPUNPCKHBW h, g, h1

// TRANSPOSE makes Y8 to Y15 the columns 2k and 2k + 1 of the tile, one in each half.
#define TRANSPOSE \
	SHUFFLE(Y0, Y4, Y1, Y5, Y2, Y6, Y3, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15) \
	SHUFFLE(Y8, Y12, Y9, Y13, Y10, Y14, Y11, Y15, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7) \
	SHUFFLE(Y0, Y4, Y1, Y5, Y2, Y6, Y3, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15) \
	VPERMQ $0xd8, Y8, Y8 \
	VPERMQ $0xd8, Y9, Y9 \
	VPERMQ $0xd8, Y10, Y10 \
	VPERMQ $0xd8, Y11, Y11 \
	VPERMQ $0xd8, Y12, Y12 \
	VPERMQ $0xd8, Y13, Y13 \
	VPERMQ $0xd8, Y14, Y14 \
	VPERMQ $0xd8, Y15, Y15

// ROWS loads all rows: FROMLANES or STEPS.
#define ROWS(LOAD) \
	LOAD(0, X0, Y0) \
	LOAD(1, X1, Y1) \
	LOAD(2, X2, Y2) \
	LOAD(3, X3, Y3) \
	LOAD(4, X4, Y4) \
	LOAD(5, X5, Y5) \
	LOAD(6, X6, Y6) \
	LOAD(7, X7, Y7)

// FROMLANES loads 16 bytes of lanes k and k + 8, which start at SI and as much more as BX says by lane.
#define FROMLANES(k, x, y) \
	MOVQ (8*k)(BX), CX \
	MOVQ (8*k+64)(BX), DX \
	VMOVDQU (SI)(CX*1), x \
	VINSERTI128 $1, (SI)(DX*1), y, y

// TOLANES stores 16 bytes of lanes 2k and 2k + 1.
#define TOLANES(k, x, y) \
	MOVQ (16*k)(BX), CX \
	MOVQ (16*k+8)(BX), DX \
	VMOVDQU x, (SI)(CX*1) \
	VEXTRACTI128 $1, y, (SI)(DX*1)

// func spreadVector(symbols *[numLanes]uint8, quals *byte, to *[numLanes]int, t *ranks)
TEXT ·spreadVector(SB), NOSPLIT, $0-32
	MOVQ symbols+0(FP), DI
	MOVQ quals+8(FP), SI
	MOVQ to+16(FP), BX
	MOVQ t+24(FP), AX
	ROWS(FROMLANES)
	MOVQ ranks_values(AX), CX
	VPBROADCASTB (CX), Y12
	ADDQ $ranks_codes, AX
	CODES
	CODEALL
	TRANSPOSE
	VMOVDQU Y8, (DI)
	VMOVDQU Y9, 32(DI)
	VMOVDQU Y10, 64(DI)
	VMOVDQU Y11, 96(DI)
	VMOVDQU Y12, 128(DI)
	VMOVDQU Y13, 160(DI)
	VMOVDQU Y14, 192(DI)
	VMOVDQU Y15, 224(DI)
	VZEROUPPER
	RET

// STEPS loads steps k and k + 8.
#define STEPS(k, x, y) \
	VMOVDQU (16*k)(DI), x \
	VINSERTI128 $1, (16*k+128)(DI), y, y

// func collectVector(symbols *[numLanes]uint8, quals *byte, to *[numLanes]int, t *ranks)
TEXT ·collectVector(SB), NOSPLIT, $0-32
	MOVQ symbols+0(FP), DI
	MOVQ quals+8(FP), SI
	MOVQ to+16(FP), BX
	MOVQ t+24(FP), AX
	ROWS(STEPS)
	VPXOR Y12, Y12, Y12
	ADDQ $(ranks_codes+64), AX
	CODES
	CODEALL
	TRANSPOSE
	TOLANES(0, X8, Y8)
	TOLANES(1, X9, Y9)
	TOLANES(2, X10, Y10)
	TOLANES(3, X11, Y11)
	TOLANES(4, X12, Y12)
	TOLANES(5, X13, Y13)
	TOLANES(6, X14, Y14)
	TOLANES(7, X15, Y15)
	VZEROUPPER
	RET
