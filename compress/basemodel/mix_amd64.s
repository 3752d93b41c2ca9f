#include "go_asm.h"
#include "textflag.h"

// Registers in all functions but the last one: AX the nodes, CX the mixer, BX its weights of the context R10, DX the base,
// R12 the last bases and R13 their reverse complement. Lanes have the order 0 1 4 5 2 3 6 7.

DATA fifteen<>+0(SB)/4, $0x000f000f
GLOBL fifteen<>(SB), RODATA|NOPTR, $4
DATA high<>+0(SB)/4, $0x80008000
GLOBL high<>(SB), RODATA|NOPTR, $4

DATA half<>+0(SB)/4, $(1<<19)
GLOBL half<>(SB), RODATA|NOPTR, $4
DATA middle<>+0(SB)/4, $2048
GLOBL middle<>(SB), RODATA|NOPTR, $4
DATA least<>+0(SB)/4, $1
GLOBL least<>(SB), RODATA|NOPTR, $4
DATA most<>+0(SB)/4, $4095
GLOBL most<>(SB), RODATA|NOPTR, $4

// WEIGHTS sets BX.
#define WEIGHTS \
	MOVL R10, BX \
	ANDL $const_setMask, BX \
	SHLQ $7, BX \
	ADDQ mixer_weights(CX), BX

// ORDERS sets R8 and R9 to the nodes of two contexts of the last bases, by their masks.
#define ORDERS(M0, M1) \
	MOVL R12, R8 \
	ANDL $M0, R8 \
	MOVL R12, R9 \
	ANDL $M1, R9

// MATCH sets R8 and R9 to the nodes of the match and of the joint context.
#define MATCH \
	MOVL R10, R8 \
	SHRL $const_matchShift, R8 \
	MOVL R10, R9 \
	SHRL $const_jointShift, R9 \
	ANDL $const_jointMask, R9

// READ reads node R8 of those from N0 on, and R9 of those from N1 on.
#define READ(N0, N1, X_) \
	VMOVQ (N0*8)(AX)(R8*8), X_ \
	VPINSRQ $1, (N1*8)(AX)(R9*8), X_, X_

// WRITE is the inverse.
#define WRITE(N0, N1, X_) \
	VMOVQ X_, (N0*8)(AX)(R8*8) \
	VPEXTRQ $1, X_, (N1*8)(AX)(R9*8)

// FETCH reads the nodes of the eight contexts to Y2 and Y3.
#define FETCH \
	ORDERS(0x3, 0xf) \
	READ(const_nodes1, const_nodes2, X2) \
	ORDERS(0x3f, 0xff) \
	READ(const_nodes3, const_nodes4, X4) \
	VINSERTI128 $1, X4, Y2, Y2 \
	ORDERS(0xfff, 0x3ffff) \
	READ(const_nodes6, const_nodes9, X3) \
	MATCH \
	READ(const_nodesMatch, const_nodesJoint, X4) \
	VINSERTI128 $1, X4, Y3, Y3

// STORE is the inverse.
#define STORE \
	ORDERS(0x3, 0xf) \
	WRITE(const_nodes1, const_nodes2, X2) \
	ORDERS(0x3f, 0xff) \
	VEXTRACTI128 $1, Y2, X4 \
	WRITE(const_nodes3, const_nodes4, X4) \
	ORDERS(0xfff, 0x3ffff) \
	WRITE(const_nodes6, const_nodes9, X3) \
	MATCH \
	VEXTRACTI128 $1, Y3, X4 \
	WRITE(const_nodesMatch, const_nodesJoint, X4)

// STRETCH sets X_ to the stretched probabilities of the lowest counters of the nodes N0 and N1. R11 is the table.
#define STRETCH(N0, N1, T, X_) \
	VSHUFPS $0x88, N1, N0, T \
	VPSLLD $16, T, T \
	VPSRLD $20, T, T \
	VPCMPEQD Y0, Y0, Y0 \
	VPGATHERDD Y0, (R11)(T*4), X_

// DOT sets S to four sums of products of X_ and W.
#define DOT(X_, W, S) \
	VPMULDQ X_, W, S \
	VPSRLQ $32, X_, Y0 \
	VPSRLQ $32, W, Y1 \
	VPMULDQ Y0, Y1, Y0 \
	VPADDQ Y0, S, S

// SUM adds up two of what DOT returns, A and B whose lower halves are AX_ and so on, and sets AX_ to the sums.
#define SUM(A, AX_, B, BX_) \
	VPUNPCKHQDQ B, A, Y0 \
	VPUNPCKLQDQ B, A, A \
	VPADDQ Y0, A, A \
	VEXTRACTI128 $1, A, X0 \
	VPADDQ X0, AX_, AX_ \
	VPSRLQ $16, AX_, AX_

// CLAMP makes sums places in the table of probabilities.
#define CLAMP(X_) \
	VPBROADCASTD middle<>(SB), X0 \
	VPADDD X0, X_, X_ \
	VPBROADCASTD least<>(SB), X0 \
	VPMAXSD X0, X_, X_ \
	VPBROADCASTD most<>(SB), X0 \
	VPMINSD X0, X_, X_

// MOVEWEIGHTS moves the weights W, which are at TO, of the inputs X_ by the error E.
#define MOVEWEIGHTS(E, X_, W, TO) \
	SHLL $4, E \
	VMOVD E, X0 \
	VPBROADCASTD X0, Y0 \
	VPMULLD X_, Y0, Y0 \
	VPBROADCASTD half<>(SB), Y1 \
	VPADDD Y1, Y0, Y0 \
	VPSRAD $20, Y0, Y0 \
	VPADDD W, Y0, Y0 \
	VMOVDQU Y0, TO

// COUNT updates the counters of the nodes N towards the values TO, only the words of MASK.
#define COUNT(N, MASK, TO, P_, C, R) \
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

// CONSTANTS sets what COUNT needs.
#define CONSTANTS \
	VPBROADCASTD fifteen<>(SB), Y15 \
	VPBROADCASTD high<>(SB), Y14 \
	VBROADCASTI128 ·counterRates(SB), Y13

// UPDATE has the nodes Y2 and Y3 learn base DX, stores them, and has two contexts learn from the other strand.
#define UPDATE \
	LEAQ ·updateMask(SB), R8 \
	LEAQ ·updateTarget(SB), R9 \
	VPBROADCASTQ (R8)(DX*8), Y12 \
	VPBROADCASTQ (R9)(DX*8), Y11 \
	COUNT(Y2, Y12, Y11, Y0, Y1, Y4) \
	COUNT(Y3, Y12, Y11, Y5, Y6, Y7) \
	STORE \
	LEAQ ·updateMask(SB), R8 \
	LEAQ ·updateTarget(SB), R9 \
	MOVL R12, R10 \
	NOTL R10 \
	SHRL $(12+2*const_strandLag), R10 \
	MOVL R10, R11 \
	ANDL $3, R10 \
	SHRL $6, R11 \
	ANDL $3, R11 \
	VMOVQ (R8)(R10*8), X12 \
	VPINSRQ $1, (R8)(R11*8), X12, X12 \
	VMOVQ (R9)(R10*8), X11 \
	VPINSRQ $1, (R9)(R11*8), X11, X11 \
	MOVQ R13, R9 \
	SHRQ $(46-2*const_strandLag), R9 \
	ANDL $0x3ffff, R9 \
	MOVL R9, R8 \
	SHRL $6, R8 \
	READ(const_nodes6, const_nodes9, X2) \
	COUNT(Y2, Y12, Y11, Y0, Y1, Y4) \
	WRITE(const_nodes6, const_nodes9, X2)

// func predictVector(x *mixer, h uint64, context uint32, s *uint32, w *uint64)
TEXT ·predictVector(SB), NOSPLIT, $0-40
	MOVQ x+0(FP), CX
	MOVQ mixer_nodes(CX), AX
	MOVQ h+8(FP), R12
	MOVL context+16(FP), R10
	MOVQ s+24(FP), R8
	MOVQ w+32(FP), R9
	PREFETCHT0 (R8)
	PREFETCHT0 (R9)
	WEIGHTS
	FETCH
	VMOVDQU Y2, mixer_node(CX)
	VMOVDQU Y3, (mixer_node+32)(CX)
	VPSRLQ $16, Y2, Y4
	VPSRLQ $16, Y3, Y5
	VPSRLQ $32, Y2, Y6
	VPSRLQ $32, Y3, Y7
	LEAQ ·stretched(SB), R11
	STRETCH(Y2, Y3, Y1, Y8)
	STRETCH(Y4, Y5, Y2, Y9)
	STRETCH(Y6, Y7, Y3, Y10)
	VMOVDQU Y8, mixer_x(CX)
	VMOVDQU Y9, (mixer_x+32)(CX)
	VMOVDQU Y10, (mixer_x+64)(CX)
	VMOVDQU (BX), Y5
	VMOVDQU 32(BX), Y6
	VMOVDQU 64(BX), Y7
	DOT(Y8, Y5, Y2)
	DOT(Y9, Y6, Y3)
	DOT(Y10, Y7, Y4)
	SUM(Y2, X2, Y3, X3)
	SUM(Y4, X4, Y4, X4)
	VSHUFPS $0x88, X4, X2, X2
	CLAMP(X2)
	LEAQ ·squashed(SB), R11
	VMOVD X2, R8
	VPEXTRD $1, X2, R9
	VPEXTRD $2, X2, R10
	MOVWLZX (R11)(R8*2), R8
	MOVWLZX (R11)(R9*2), R9
	MOVWLZX (R11)(R10*2), R10
	MOVL R8, mixer_p(CX)
	MOVL R9, (mixer_p+4)(CX)
	MOVL R10, (mixer_p+8)(CX)
	VZEROUPPER
	RET

// func learnVector(x *mixer, h, r uint64, context, b uint32)
TEXT ·learnVector(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), CX
	MOVQ mixer_nodes(CX), AX
	MOVQ h+8(FP), R12
	MOVQ r+16(FP), R13
	MOVL context+24(FP), R10
	MOVL b+28(FP), DX
	// Fetch what will be read one or two bases from now.
	LEAQ (DX)(R12*4), R8
	ANDL $0xffff, R8
	SHLL $2, R8
	MOVQ R13, R9
	SHRQ $46, R9
	PREFETCHT0 (const_nodes9*8)(AX)(R8*8)
	PREFETCHT0 (const_nodes9*8)(AX)(R9*8)
	WEIGHTS
	MOVL DX, SI
	SHRL $1, SI
	MOVL SI, R8
	SHLL $16, R8
	SUBL mixer_p(CX), R8
	MOVL DX, R9
	ANDL $1, R9
	SHLL $16, R9
	SUBL (mixer_p+4)(CX)(SI*4), R9
	SHLQ $5, SI
	VMOVDQU mixer_x(CX), Y8
	VMOVDQU (mixer_x+32)(CX)(SI*1), Y9
	VMOVDQU (BX), Y5
	VMOVDQU 32(BX)(SI*1), Y6
	MOVEWEIGHTS(R8, Y8, Y5, (BX))
	MOVEWEIGHTS(R9, Y9, Y6, 32(BX)(SI*1))
	VMOVDQU mixer_node(CX), Y2
	VMOVDQU (mixer_node+32)(CX), Y3
	CONSTANTS
	UPDATE
	VZEROUPPER
	RET

// func encodeVector(x *mixer, h, r uint64, bases *byte, contexts *uint32, n int, out *rangecoder.Decision)
TEXT ·encodeVector(SB), NOSPLIT, $0-56
	MOVQ x+0(FP), CX
	MOVQ mixer_nodes(CX), AX
	MOVQ h+8(FP), R12
	MOVQ r+16(FP), R13
	MOVQ bases+24(FP), SI
	MOVQ contexts+32(FP), DI
	MOVQ out+48(FP), R15
	// R14 is what R12 will be basesAhead bases later.
	MOVQ R12, R14
	MOVBLZX (SI), R8
	LEAQ (R8)(R14*4), R14
	MOVBLZX 1(SI), R8
	LEAQ (R8)(R14*4), R14
	MOVBLZX 2(SI), R8
	LEAQ (R8)(R14*4), R14
	MOVBLZX 3(SI), R8
	LEAQ (R8)(R14*4), R14
	CONSTANTS
next:
	MOVBLZX const_basesAhead(SI), R8
	MOVL R14, R9
	ANDL $0x3ffff, R9
	PREFETCHT0 (const_nodes9*8)(AX)(R9*8)
	LEAQ (R8)(R14*4), R14
	MOVQ R13, R9
	SHRQ $46, R9
	PREFETCHT0 (const_nodes9*8)(AX)(R9*8)

	MOVBLZX (SI), DX
	MOVL (DI), R10
	WEIGHTS
	FETCH
	MOVL DX, R8 // the second decision's counter becomes the lowest one
	ANDL $2, R8
	LEAL 16(R8*8), R8
	VMOVD R8, X1
	VPSRLQ X1, Y2, Y5
	VPSRLQ X1, Y3, Y6
	LEAQ ·stretched(SB), R11
	STRETCH(Y2, Y3, Y4, Y8)
	STRETCH(Y5, Y6, Y7, Y9)
	MOVL DX, R11
	SHRL $1, R11
	SHLQ $5, R11
	VMOVDQU (BX), Y10
	VMOVDQU 32(BX)(R11*1), Y11
	DOT(Y8, Y10, Y4)
	DOT(Y9, Y11, Y5)
	SUM(Y4, X4, Y5, X5)
	CLAMP(X4)
	LEAQ ·squashed(SB), R10
	VMOVD X4, R8
	VPEXTRD $2, X4, R9
	MOVWLZX (R10)(R8*2), R8
	MOVWLZX (R10)(R9*2), R9
	MOVL DX, R10
	SHRL $1, R10
	LEAL (R10)(R8*2), DX
	MOVL DX, (R15)
	SHLL $16, R10
	SUBL R8, R10
	MOVBLZX (SI), DX
	MOVL DX, R8
	ANDL $1, R8
	SHLL $16, R8
	SUBL R9, R8
	ADDL R9, R9
	BTL $0, DX
	ADCL $0, R9
	MOVL R9, 4(R15)
	MOVEWEIGHTS(R10, Y8, Y10, (BX))
	MOVEWEIGHTS(R8, Y9, Y11, 32(BX)(R11*1))
	MOVL (DI), R10
	UPDATE

	LEAQ (DX)(R12*4), R12
	XORL $3, DX
	SHLQ $62, DX
	SHRQ $2, R13
	ORQ DX, R13
	INCQ SI
	ADDQ $4, DI
	ADDQ $8, R15
	DECQ n+40(FP)
	JNZ next
	VZEROUPPER
	RET

// func prefetch(base unsafe.Pointer, size uint, index *uint32, n int)
TEXT ·prefetch(SB), NOSPLIT, $0-32
	MOVQ base+0(FP), AX
	MOVQ size+8(FP), SI
	MOVQ index+16(FP), BX
	MOVQ n+24(FP), CX
next:
	MOVL (BX), DX
	IMULQ SI, DX
	PREFETCHT0 (AX)(DX*1)
	ADDQ $4, BX
	DECQ CX
	JNZ next
	RET
