#include "textflag.h"

// Offsets in histories.
#define LAST 0
#define SECOND 64
#define THIRD 128
#define FOURTH 192
#define PLACE 256
#define RUN 320
#define BEFORE 384
#define FAST 448
#define SLOW 512
#define SHARE 576
#define DELTA 640
#define TOPS 704
#define FROM 768
#define CLASS 832

DATA numbers<>+0(SB)/4, $0x9E3779B1
DATA numbers<>+4(SB)/4, $0x85EBCA77
DATA numbers<>+8(SB)/4, $511
DATA numbers<>+12(SB)/4, $15
DATA numbers<>+16(SB)/4, $31
DATA numbers<>+20(SB)/4, $1
DATA numbers<>+24(SB)/4, $254
DATA numbers<>+28(SB)/4, $63
GLOBL numbers<>(SB), RODATA|NOPTR, $32

// START sets the registers of the functions that compute contexts, from their arguments.
#define START \
	MOVQ h+0(FP), DI \
	MOVQ at+8(FP), SI \
	MOVL shift+16(FP), AX \
	VMOVD AX, X12 \
	MOVL size+20(FP), AX \
	VMOVD AX, X11 \
	VPBROADCASTD X11, Y11 \
	VPBROADCASTD numbers<>+0(SB), Y14 \
	VPBROADCASTD numbers<>+4(SB), Y13

// func appendVector(h *histories, symbols *[numLanes]uint32, top uint32)
TEXT ·appendVector(SB), NOSPLIT, $0-20
	MOVQ h+0(FP), DI
	MOVQ symbols+8(FP), SI
	MOVL top+16(FP), AX
	VMOVD AX, X15
	VPBROADCASTD X15, Y15
	VPXOR Y14, Y14, Y14
	MOVL $2, CX

half:
	VMOVDQU (SI), Y0         // symbols
	VMOVDQU LAST(DI), Y1
	VPCMPEQD Y0, Y1, Y2      // whether the run continues
	VMOVDQU RUN(DI), Y3
	VPSUBD Y2, Y3, Y3
	VPAND Y2, Y3, Y3
	VMOVDQU Y3, RUN(DI)
	VMOVDQU BEFORE(DI), Y3
	VPBLENDVB Y2, Y3, Y1, Y3
	VMOVDQU Y3, BEFORE(DI)
	VMOVDQU PLACE(DI), Y4
	VPSUBD Y1, Y0, Y3
	VPABSD Y3, Y3
	VPCMPGTD Y14, Y4, Y5     // not the first symbol
	VPAND Y5, Y3, Y3
	VPADDD DELTA(DI), Y3, Y3
	VMOVDQU Y3, DELTA(DI)
	VPCMPEQD Y14, Y14, Y5
	VPSUBD Y5, Y4, Y4
	VMOVDQU Y4, PLACE(DI)
	VPXOR Y14, Y14, Y14
	VPSLLD $8, Y0, Y3
	VMOVDQU FAST(DI), Y4
	VPSUBD Y4, Y3, Y5
	VPSRAD $2, Y5, Y5
	VPADDD Y4, Y5, Y4
	VMOVDQU Y4, FAST(DI)
	VMOVDQU SLOW(DI), Y4
	VPSUBD Y4, Y3, Y5
	VPSRAD $4, Y5, Y5
	VPADDD Y4, Y5, Y4
	VMOVDQU Y4, SLOW(DI)
	VPCMPEQD Y15, Y0, Y3
	VMOVDQU TOPS(DI), Y4
	VPSUBD Y3, Y4, Y4
	VMOVDQU Y4, TOPS(DI)
	VPSRLD $31, Y3, Y3
	VPSLLD $12, Y3, Y3
	VMOVDQU SHARE(DI), Y4
	VPSUBD Y4, Y3, Y5
	VPSRAD $5, Y5, Y5
	VPADDD Y4, Y5, Y4
	VMOVDQU Y4, SHARE(DI)
	VMOVDQU THIRD(DI), Y3
	VMOVDQU Y3, FOURTH(DI)
	VMOVDQU SECOND(DI), Y3
	VMOVDQU Y3, THIRD(DI)
	VMOVDQU Y1, SECOND(DI)
	VMOVDQU Y0, LAST(DI)
	ADDQ $32, SI
	ADDQ $32, DI
	DECL CX
	JNZ half
	VZEROUPPER
	RET

// LINE sets the place of the line of feature f to that of the context Y0 and the last symbol.
#define LINE(f) \
	VPOR Y15, Y0, Y0         \
	VPMULLD Y14, Y0, Y0      \
	VPSRLD $15, Y0, Y1       \
	VPXOR Y1, Y0, Y0         \
	VPMULLD Y13, Y0, Y0      \
	VPSRLD X12, Y0, Y0       \
	VPSLLD $4, Y0, Y0        \
	VPADDD Y10, Y0, Y0       \
	VPADDD Y11, Y10, Y10     \
	VMOVDQU Y0, f*64(SI)

// LASTLINE sets feature 4: the last symbol alone, whose lines are in order, so that each also has its own ones in further rounds.
#define LASTLINE \
	VPSLLD $6, Y15, Y0       \
	VPADDD Y10, Y0, Y0       \
	VPADDD Y11, Y10, Y10     \
	VMOVDQU Y0, 4*64(SI)

// PLACES sets Y9 to the place, of at most 511, and feature 0 by that and the slow mean, which is Y8.
#define PLACES \
	VPXOR Y10, Y10, Y10                          \
	VMOVDQU LAST(DI), Y15                        \
	VMOVDQU SLOW(DI), Y8                         \
	VPBROADCASTD numbers<>+8(SB), Y9             \
	VPMINUD PLACE(DI), Y9, Y9                    \
	VPSRLD $6, Y8, Y0                            \
	VPSLLD $8, Y0, Y0                            \
	VPSLLD $20, Y9, Y1                           \
	VPOR Y1, Y0, Y0                              \
	LINE(0)

// SHARES sets feature 2 by the share of the best symbol and the place.
#define SHARES \
	VMOVDQU SHARE(DI), Y0                        \
	VPSRLD $8, Y0, Y0                            \
	VPSLLD $8, Y0, Y0                            \
	VPSRLD $3, Y9, Y1                            \
	VPSLLD $16, Y1, Y1                           \
	VPOR Y1, Y0, Y0                              \
	LINE(2)

// func smoothVector(h *histories, at *[numFeatures][numLanes]uint32, shift, size uint32)
TEXT ·smoothVector(SB), NOSPLIT, $0-24
	START
	MOVL $2, CX

half:
	PLACES
	VPBROADCASTD numbers<>+12(SB), Y0
	VPMINUD RUN(DI), Y0, Y0
	VPSLLD $8, Y0, Y0
	VPSRLD $8, Y8, Y1
	VPSLLD $16, Y1, Y1
	VPOR Y1, Y0, Y0
	LINE(1)
	SHARES
	VMOVDQU SECOND(DI), Y7
	VPSLLD $8, Y7, Y7
	VMOVDQU THIRD(DI), Y0
	VPMAXUD FOURTH(DI), Y0, Y0
	VPSLLD $16, Y0, Y0
	VPOR Y7, Y0, Y0
	LINE(3)
	LASTLINE
	VPSLLD $16, Y9, Y0
	VPOR Y7, Y0, Y0
	LINE(5)
	ADDQ $32, DI
	ADDQ $32, SI
	DECL CX
	JNZ half
	VZEROUPPER
	RET

// func steppedVector(h *histories, at *[numFeatures][numLanes]uint32, shift, size uint32)
TEXT ·steppedVector(SB), NOSPLIT, $0-24
	START
	MOVL $2, CX

half:
	PLACES
	// The logarithm of 4 * delta + 1: the exponent and the highest bit of the fraction of a float.
	VMOVDQU DELTA(DI), Y6
	VPSLLD $2, Y6, Y6
	VPBROADCASTD numbers<>+20(SB), Y0
	VPADDD Y0, Y6, Y6
	VCVTDQ2PS Y6, Y6
	VPSRLD $22, Y6, Y6
	VPBROADCASTD numbers<>+24(SB), Y0
	VPSUBD Y0, Y6, Y6
	VPBROADCASTD numbers<>+16(SB), Y0
	VPMINUD Y0, Y6, Y6
	VPMINUD RUN(DI), Y0, Y0
	VPSLLD $8, Y0, Y0
	VMOVDQU BEFORE(DI), Y1
	VPSLLD $13, Y1, Y1
	VPOR Y1, Y0, Y0
	VPSLLD $18, Y6, Y1
	VPOR Y1, Y0, Y0
	LINE(1)
	SHARES
	VMOVDQU SECOND(DI), Y0
	VPSLLD $8, Y0, Y0
	VMOVDQU THIRD(DI), Y1
	VPSLLD $12, Y1, Y1
	VPOR Y1, Y0, Y0
	VMOVDQU FOURTH(DI), Y1
	VPSLLD $16, Y1, Y1
	VPOR Y1, Y0, Y0
	VPSLLD $20, Y6, Y1
	VPOR Y1, Y0, Y0
	LINE(3)
	LASTLINE
	VMOVDQU FAST(DI), Y0
	VPSRLD $7, Y0, Y0
	VPSLLD $8, Y0, Y0
	VPSRLD $8, Y8, Y1
	VPSLLD $20, Y1, Y1
	VPOR Y1, Y0, Y0
	LINE(5)
	ADDQ $32, DI
	ADDQ $32, SI
	DECL CX
	JNZ half
	VZEROUPPER
	RET

// func givenVector(h *histories, at *[numFeatures][numLanes]uint32, shift, size uint32)
TEXT ·givenVector(SB), NOSPLIT, $0-24
	START
	VPBROADCASTD numbers<>+20(SB), Y9 // 1
	MOVL $2, CX

half:
	VPXOR Y10, Y10, Y10
	VMOVDQU LAST(DI), Y15
	VMOVDQU CLASS(DI), Y7
	VPBROADCASTD numbers<>+28(SB), Y8
	VPAND Y7, Y8, Y8
	VPSLLD $8, Y8, Y8 // the run of bases
	VMOVDQU SHARE(DI), Y0
	VPSRLD $8, Y0, Y0
	VPSLLD $16, Y0, Y0
	VPOR Y8, Y0, Y0
	LINE(0)
	VPSLLD $8, Y7, Y0
	LINE(1)
	VMOVDQU SLOW(DI), Y0
	VPSRLD $11, Y0, Y0
	VPSLLD $16, Y0, Y0
	VPOR Y8, Y0, Y0
	LINE(2)
	// The quotient of numbers below 1 << 21 is at most 64, and rounded down right, as the next whole number is more than 1 >> 15 away.
	VMOVDQU TOPS(DI), Y0
	VPSLLD $6, Y0, Y0
	VCVTDQ2PS Y0, Y0
	VMOVDQU PLACE(DI), Y1
	VPSUBD FROM(DI), Y1, Y1
	VPADDD Y9, Y1, Y1
	VCVTDQ2PS Y1, Y1
	VDIVPS Y1, Y0, Y0
	VCVTTPS2DQ Y0, Y0
	VPSLLD $16, Y0, Y0
	VPOR Y8, Y0, Y0
	LINE(3)
	LASTLINE
	// The logarithm of the run of symbols and 1, as in steppedVector.
	VPADDD RUN(DI), Y9, Y0
	VCVTDQ2PS Y0, Y0
	VPSRLD $22, Y0, Y0
	VPBROADCASTD numbers<>+24(SB), Y1
	VPSUBD Y1, Y0, Y0
	VPBROADCASTD numbers<>+12(SB), Y1
	VPMINUD Y1, Y0, Y0
	VPSLLD $16, Y0, Y0
	VPOR Y8, Y0, Y0
	LINE(5)
	ADDQ $32, DI
	ADDQ $32, SI
	DECL CX
	JNZ half
	VZEROUPPER
	RET
