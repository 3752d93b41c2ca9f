#include "textflag.h"

// Offsets in a mixer.
#define INDEX 0
#define X 32
#define P 128
#define NODE 144
#define NODES 208
#define WEIGHTS 232
#define SET 256

// WEIGHTSHIFT is the shift that makes a set of weights an offset.
#define WEIGHTSHIFT 7

DATA top<>+0(SB)/4, $92274688.0
GLOBL top<>(SB), RODATA|NOPTR, $4
DATA bottom<>+0(SB)/4, $-92274688.0
GLOBL bottom<>(SB), RODATA|NOPTR, $4
DATA unity<>+0(SB)/4, $1.0
GLOBL unity<>(SB), RODATA|NOPTR, $4
DATA certain<>+0(SB)/4, $65536.0
GLOBL certain<>(SB), RODATA|NOPTR, $4

DATA fifteen<>+0(SB)/4, $0x000f000f
GLOBL fifteen<>(SB), RODATA|NOPTR, $4
DATA high<>+0(SB)/4, $0x80008000
GLOBL high<>(SB), RODATA|NOPTR, $4

DATA one<>+0(SB)/4, $1
GLOBL one<>(SB), RODATA|NOPTR, $4
DATA whole<>+0(SB)/4, $8192
GLOBL whole<>(SB), RODATA|NOPTR, $4

// STRETCH sets X_ to the logits of the probabilities P_, which are in 1/8192 with a lowest bit that is set to 1.
#define STRETCH(P_, X_) \
	VPOR Y14, P_, P_ \
	VPSUBD P_, Y15, X_ \
	VCVTDQ2PS P_, P_ \
	VCVTDQ2PS X_, X_ \
	VPSUBD X_, P_, X_ \
	VCVTDQ2PS X_, X_

// FETCH reads the four nodes whose indices are in FROM to Y_, whose lower half is X_; it is the inverse of STORE.
#define FETCH(FROM, Y_, X_, T) \
	VMOVD FROM, R8 \
	VPEXTRD $1, FROM, R9 \
	VPEXTRD $2, FROM, R10 \
	VPEXTRD $3, FROM, R11 \
	VMOVQ (AX)(R8*8), X_ \
	VMOVQ (AX)(R10*8), T \
	VPINSRQ $1, (AX)(R9*8), X_, X_ \
	VPINSRQ $1, (AX)(R11*8), T, T \
	VINSERTI128 $1, T, Y_, Y_

// PREDICT finds the nodes of the next base, given the last bases R8, the match's node R9 and the joint node R10, and its
// probabilities by the weights (BX).
// Of the counters of a lane, Y4 holds the first and second, Y5 the third.
#define PREDICT \
	VMOVD R8, X0 \
	VPBROADCASTD X0, Y0 \
	VPAND ·nodeMask(SB), Y0, Y0 \
	VPXOR X1, X1, X1 \
	VPINSRD $2, R9, X1, X1 \
	VPINSRD $3, R10, X1, X1 \
	VPXOR X2, X2, X2 \
	VINSERTI128 $1, X1, Y2, Y1 \
	VPADDD ·nodeStart(SB), Y0, Y0 \
	VPADDD Y1, Y0, Y0 \
	VMOVDQU Y0, INDEX(CX) \
	VEXTRACTI128 $1, Y0, X1 \
	FETCH(X0, Y2, X2, X4) \
	FETCH(X1, Y3, X3, X4) \
	VMOVDQU Y2, NODE(CX) \
	VMOVDQU Y3, (NODE+32)(CX) \
	VSHUFPS $0x88, Y3, Y2, Y4 \
	VSHUFPS $0xdd, Y3, Y2, Y5 \
	VPBROADCASTD one<>(SB), Y14 \
	VPBROADCASTD whole<>(SB), Y15 \
	VPSLLD $16, Y4, Y6 \
	VPSRLD $19, Y6, Y6 \
	VPSRLD $19, Y4, Y7 \
	VPSRLD $3, Y5, Y8 \
	STRETCH(Y6, Y9) \
	STRETCH(Y7, Y10) \
	STRETCH(Y8, Y11) \
	VMOVUPS Y9, X(CX) \
	VMOVUPS Y10, (X+32)(CX) \
	VMOVUPS Y11, (X+64)(CX) \
	VMULPS (BX), Y9, Y9 \
	VMULPS 32(BX), Y10, Y10 \
	VMULPS 64(BX), Y11, Y11 \
	VHADDPS Y10, Y9, Y9 \
	VHADDPS Y11, Y11, Y11 \
	VHADDPS Y11, Y9, Y9 \
	VEXTRACTF128 $1, Y9, X10 \
	VADDPS X10, X9, X9 \
	VBROADCASTSS bottom<>(SB), X10 \
	VBROADCASTSS top<>(SB), X11 \
	VMAXPS X10, X9, X9 \
	VMINPS X11, X9, X9 \
	VCVTTPS2DQ X9, X9 \
	VBROADCASTSS unity<>(SB), X10 \
	VPSUBD X9, X10, X9 \
	VADDPS X10, X9, X9 \
	VBROADCASTSS certain<>(SB), X10 \
	VDIVPS X9, X10, X10 \
	VCVTTPS2DQ X10, X10 \
	VMOVDQU X10, P(CX)

// func predictVector(x *mixer, h, match, joint uint32)
TEXT ·predictVector(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), CX
	MOVQ NODES(CX), AX
	MOVL SET(CX), BX
	SHLQ $WEIGHTSHIFT, BX
	ADDQ WEIGHTS(CX), BX
	MOVL h+8(FP), R8
	MOVL match+12(FP), R9
	MOVL joint+16(FP), R10
	PREDICT
	VZEROUPPER
	RET

// MOVE updates the counters of four nodes N towards the values TO, only the words of MASK.
#define MOVE(N, MASK, TO, P_, C, R) \
	VPSRLW $4, N, P_ \
	VPAND Y15, N, C \
	VPOR Y14, C, R \
	VPSHUFB R, Y13, R \
	VPSLLW $7, R, R \
	VPSUBW P_, TO, N \
	VPMULHRSW R, N, N \
	VPAND MASK, N, N \
	VPADDW P_, N, N \
	VPSLLW $4, N, N \
	VPSUBW MASK, C, C \
	VPMINUW Y15, C, C \
	VPOR C, N, N

// STORE writes the four nodes of Y_, whose lower half is X_, to the four indices at FROM.
#define STORE(Y_, X_, T, FROM) \
	MOVL (FROM)(CX), R8 \
	MOVL (FROM+4)(CX), R9 \
	MOVL (FROM+8)(CX), R10 \
	MOVL (FROM+12)(CX), R11 \
	VMOVQ X_, (AX)(R8*8) \
	VPEXTRQ $1, X_, (AX)(R9*8) \
	VEXTRACTI128 $1, Y_, T \
	VMOVQ T, (AX)(R10*8) \
	VPEXTRQ $1, T, (AX)(R11*8)

// LEARN learns base DX, and an update by the other strand: of the nodes Q0 and Q1 by the bases B0 and B1. Weights move by the errors of the
// two decisions.
#define LEARN(Q0, Q1, B0, B1) \
	MOVL SET(CX), BX \
	SHLQ $WEIGHTSHIFT, BX \
	ADDQ WEIGHTS(CX), BX \
	MOVL DX, DI \
	SHRL $1, DI \
	MOVL DI, R8 \
	SHLL $16, R8 \
	SUBL P(CX), R8 \
	MOVL DX, R9 \
	ANDL $1, R9 \
	SHLL $16, R9 \
	SUBL (P+4)(CX)(DI*4), R9 \
	VXORPS X0, X0, X0 \
	VCVTSI2SSL R8, X0, X0 \
	VXORPS X1, X1, X1 \
	VCVTSI2SSL R9, X1, X1 \
	VMULSS ·learningRate(SB), X0, X0 \
	VMULSS ·learningRate(SB), X1, X1 \
	VBROADCASTSS X0, Y0 \
	VBROADCASTSS X1, Y1 \
	VMULPS X(CX), Y0, Y0 \
	VADDPS (BX), Y0, Y0 \
	VMOVUPS Y0, (BX) \
	SHLQ $5, DI \
	VMULPS (X+32)(CX)(DI*1), Y1, Y1 \
	VADDPS 32(BX)(DI*1), Y1, Y1 \
	VMOVUPS Y1, 32(BX)(DI*1) \
	VPBROADCASTD fifteen<>(SB), Y15 \
	VPBROADCASTD high<>(SB), Y14 \
	VBROADCASTI128 ·counterRates(SB), Y13 \
	LEAQ ·updateMask(SB), SI \
	LEAQ ·updateTarget(SB), DI \
	VPBROADCASTQ (SI)(DX*8), Y12 \
	VPBROADCASTQ (DI)(DX*8), Y11 \
	VMOVDQU NODE(CX), Y0 \
	VMOVDQU (NODE+32)(CX), Y1 \
	MOVE(Y0, Y12, Y11, Y2, Y3, Y4) \
	MOVE(Y1, Y12, Y11, Y5, Y6, Y7) \
	STORE(Y0, X0, X2, INDEX) \
	STORE(Y1, X1, X3, INDEX+16) \
	MOVL Q0, R8 \
	MOVL Q1, R9 \
	MOVBLZX B0, R10 \
	MOVBLZX B1, R11 \
	VMOVQ (AX)(R8*8), X0 \
	VPINSRQ $1, (AX)(R9*8), X0, X0 \
	VMOVQ (SI)(R10*8), X12 \
	VPINSRQ $1, (SI)(R11*8), X12, X12 \
	VMOVQ (DI)(R10*8), X11 \
	VPINSRQ $1, (DI)(R11*8), X11, X11 \
	MOVE(Y0, Y12, Y11, Y2, Y3, Y4) \
	VMOVQ X0, (AX)(R8*8) \
	VPEXTRQ $1, X0, (AX)(R9*8)

// func advanceVector(x *mixer, b uint32, q *strandUpdate, set, h, match, joint uint32, n0, n1 *node, s *uint32, w *uint64)
TEXT ·advanceVector(SB), NOSPLIT, $0-72
	MOVQ x+0(FP), CX
	MOVQ NODES(CX), AX
	// Fetch what will be read one or two bases from now.
	MOVQ n0+40(FP), R8
	MOVQ n1+48(FP), R9
	MOVQ s+56(FP), R10
	MOVQ w+64(FP), R11
	PREFETCHT0 (R8)
	PREFETCHT0 (R9)
	PREFETCHT0 (R10)
	PREFETCHT0 (R11)

	MOVL b+8(FP), DX
	MOVQ q+16(FP), R12
	LEARN((R12), 4(R12), 8(R12), 9(R12))

	MOVL set+24(FP), BX
	MOVL BX, SET(CX)
	SHLQ $WEIGHTSHIFT, BX
	ADDQ WEIGHTS(CX), BX
	MOVL h+28(FP), R8
	MOVL match+32(FP), R9
	MOVL joint+36(FP), R10
	PREDICT
	VZEROUPPER
	RET

// Offsets in a blockStep, and its size; NODES9 is that of nodes9 in the table of nodes.
#define STEPMATCH 4
#define STEPJOINT 8
#define STEPSET 12
#define STEPNODE 16
#define STEPBASE 24
#define STEPLAST 28
#define STEPSIZE 32
#define NODES9 35488

// AHEAD is how many bytes ahead the step is whose nodes are fetched into the cache.
#define AHEAD (4*STEPSIZE)

// func advanceAllVector(x *mixer, steps *blockStep, n int, p *[4]uint32)
TEXT ·advanceAllVector(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), CX
	MOVQ steps+8(FP), R13
	MOVQ n+16(FP), R15
	MOVQ p+24(FP), R12
	MOVQ NODES(CX), AX
next:
	MOVL AHEAD(R13), R8
	MOVL (AHEAD+STEPNODE+4)(R13), R9
	ANDL $0x3ffff, R8
	PREFETCHT0 NODES9(AX)(R8*8)
	PREFETCHT0 (AX)(R9*8)
	MOVL STEPLAST(R13), DX
	LEARN(STEPNODE(R13), (STEPNODE+4)(R13), STEPBASE(R13), (STEPBASE+1)(R13))
	MOVL STEPSET(R13), BX
	MOVL BX, SET(CX)
	SHLQ $WEIGHTSHIFT, BX
	ADDQ WEIGHTS(CX), BX
	MOVL (R13), R8
	MOVL STEPMATCH(R13), R9
	MOVL STEPJOINT(R13), R10
	PREDICT
	VMOVDQU X10, (R12)
	ADDQ $STEPSIZE, R13
	ADDQ $16, R12
	DECQ R15
	JNZ next
	VZEROUPPER
	RET

// func prefetch32(base *uint32, index *uint32, n int)
TEXT ·prefetch32(SB), NOSPLIT, $0-24
	MOVQ base+0(FP), AX
	MOVQ index+8(FP), BX
	MOVQ n+16(FP), CX
next:
	MOVL (BX), DX
	PREFETCHT0 (AX)(DX*4)
	ADDQ $4, BX
	DECQ CX
	JNZ next
	RET

// func prefetch64(base *uint64, index *uint32, n int)
TEXT ·prefetch64(SB), NOSPLIT, $0-24
	MOVQ base+0(FP), AX
	MOVQ index+8(FP), BX
	MOVQ n+16(FP), CX
next:
	MOVL (BX), DX
	PREFETCHT0 (AX)(DX*8)
	ADDQ $4, BX
	DECQ CX
	JNZ next
	RET
