#include "textflag.h"

DATA firstSymbol<>+0(SB)/1, $33
GLOBL firstSymbol<>(SB), RODATA|NOPTR, $1
DATA nearMask<>+0(SB)/1, $63
GLOBL nearMask<>(SB), RODATA|NOPTR, $1
DATA notNear<>+0(SB)/1, $0xc0
GLOBL notNear<>(SB), RODATA|NOPTR, $1
// The factors of the symbol before and of the symbol in the index of a pair.
DATA nearFactors<>+0(SB)/2, $0x4001
GLOBL nearFactors<>(SB), RODATA|NOPTR, $2

// Bytes from the table of a part to that of the next one.
#define TABLE (4*NEARTABLE)
#define NEARTABLE (64*64+272)

// INDICES stores the indices of the 32 pairs that begin at SRC, of 16 bits each, on the stack: those at even places, then the others.
#define INDICES(SRC, AT) \
	PREFETCHT0 2048(SRC) \
	VMOVDQU (SRC), Y0 \
	VMOVDQU 1(SRC), Y1 \
	VPSUBB Y8, Y0, Y0 \
	VPSUBB Y8, Y1, Y1 \
	VPOR Y0, Y7, Y7 \
	VPOR Y1, Y7, Y7 \
	VPAND Y9, Y0, Y0 \
	VPAND Y9, Y1, Y1 \
	VPMADDUBSW Y10, Y0, Y0 \
	VPMADDUBSW Y10, Y1, Y1 \
	VMOVDQU Y0, AT(SP) \
	VMOVDQU Y1, (AT+32)(SP) \
	ADDQ $32, SRC

// EVEN and ODD count a pair of each part, at an even or an odd place.
#define EVEN(AT) \
	MOVWLZX AT(SP), AX \
	MOVWLZX (AT+64)(SP), BX \
	MOVWLZX (AT+128)(SP), DX \
	MOVWLZX (AT+192)(SP), R11 \
	INCL (0*TABLE)(DI)(AX*4) \
	INCL (1*TABLE)(DI)(BX*4) \
	INCL (2*TABLE)(DI)(DX*4) \
	INCL (3*TABLE)(DI)(R11*4)

#define ODD(AT) \
	MOVWLZX AT(SP), AX \
	MOVWLZX (AT+64)(SP), BX \
	MOVWLZX (AT+128)(SP), DX \
	MOVWLZX (AT+192)(SP), R11 \
	INCL (4*TABLE)(DI)(AX*4) \
	INCL (5*TABLE)(DI)(BX*4) \
	INCL (6*TABLE)(DI)(DX*4) \
	INCL (7*TABLE)(DI)(R11*4)

// COUNT8 counts eight pairs of each part.
#define COUNT8(AT) \
	EVEN(AT) \
	ODD(AT+32) \
	EVEN(AT+2) \
	ODD(AT+34) \
	EVEN(AT+4) \
	ODD(AT+36) \
	EVEN(AT+6) \
	ODD(AT+38)

// func countVector(tables *[2*numParts][nearTable]uint32, parts *[numParts]*byte, groups int) (near bool)
TEXT ·countVector(SB), NOSPLIT, $256-25
	MOVQ tables+0(FP), DI
	MOVQ parts+8(FP), AX
	MOVQ groups+16(FP), CX
	MOVQ 0(AX), SI
	MOVQ 8(AX), R8
	MOVQ 16(AX), R9
	MOVQ 24(AX), R10
	VPBROADCASTB firstSymbol<>(SB), Y8
	VPBROADCASTB nearMask<>(SB), Y9
	VPBROADCASTW nearFactors<>(SB), Y10
	VPXOR Y7, Y7, Y7

group:
	INDICES(SI, 0)
	INDICES(R8, 64)
	INDICES(R9, 128)
	INDICES(R10, 192)
	COUNT8(0)
	COUNT8(8)
	COUNT8(16)
	COUNT8(24)
	DECQ CX
	JNZ group

	VPBROADCASTB notNear<>(SB), Y0
	VPTEST Y0, Y7
	SETEQ near+24(FP)
	VZEROUPPER
	RET
