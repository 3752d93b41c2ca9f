#include "textflag.h"

// Twice the place of a k-mer among eight.
DATA places<>+0(SB)/8, $0
DATA places<>+8(SB)/8, $2
DATA places<>+16(SB)/8, $4
DATA places<>+24(SB)/8, $6
DATA places<>+32(SB)/8, $8
DATA places<>+40(SB)/8, $10
DATA places<>+48(SB)/8, $12
DATA places<>+56(SB)/8, $14
GLOBL places<>(SB), RODATA|NOPTR, $64

// FILL sets all elements of Z_ to VALUE.
#define FILL(VALUE, Z_) \
	MOVQ VALUE, AX \
	VPBROADCASTQ AX, Z_

// MIX is one step of mix64: Z2 ^= Z2 >> SHIFT.
#define MIX(SHIFT) \
	VPSRLQ SHIFT, Z2, Z3 \
	VPXORQ Z3, Z2, Z2

// func sampleVector(hashes, places *uint64, p *byte, from, n, k int, shift, threshold uint64) int
TEXT ·sampleVector(SB), NOSPLIT, $0-72
	MOVQ hashes+0(FP), DI
	MOVQ places+8(FP), R8
	MOVQ p+16(FP), SI
	MOVQ from+24(FP), CX
	MOVQ n+32(FP), DX
	MOVQ shift+48(FP), X9
	MOVQ DI, R12
	MOVQ $0x0f0f0f0f0f0f0f0f, R9
	MOVQ $0x3333333333333333, R10

	VMOVDQU64 places<>(SB), Z16
	LEAQ (CX)(CX*1), AX
	VPBROADCASTQ AX, Z17

	// Z10 and Z12 are the shifts of k-mers in a word of 32 bases and in its reverse complement, Z11 is the mask of a k-mer.
	MOVQ CX, AX
	ANDQ $3, AX
	SHLQ $1, AX
	VPBROADCASTQ AX, Z10
	VPADDQ Z16, Z10, Z10
	MOVQ $32, BX
	SUBQ k+40(FP), BX
	SHLQ $1, BX
	VPBROADCASTQ BX, Z12
	VPSUBQ Z10, Z12, Z12
	MOVQ $-1, AX
	SHRXQ BX, AX, AX
	VPBROADCASTQ AX, Z11
	SHRQ $2, CX
	ADDQ CX, SI

	VPADDQ Z17, Z16, Z16 // where the k-mers are, twice
	FILL($0xbf58476d1ce4e5b9, Z13)
	FILL($0x94d049bb133111eb, Z14)
	VPBROADCASTQ threshold+56(FP), Z15
	FILL($1, Z17)
	FILL($16, Z18)

eight:
	MOVQ (SI), AX
	MOVQ AX, BX
	NOTQ BX
	BSWAPQ BX
	MOVQ BX, CX
	SHRQ $4, BX
	ANDQ R9, BX
	ANDQ R9, CX
	SHLQ $4, CX
	ORQ CX, BX
	MOVQ BX, CX
	SHRQ $2, BX
	ANDQ R10, BX
	ANDQ R10, CX
	SHLQ $2, CX
	ORQ CX, BX
	VPBROADCASTQ AX, Z0
	VPBROADCASTQ BX, Z1
	VPSRLVQ Z10, Z0, Z0
	VPSRLVQ Z12, Z1, Z1
	VPANDQ Z11, Z0, Z0
	VPANDQ Z11, Z1, Z1
	VPCMPUQ $1, Z0, Z1, K2 // the reverse complement is the smaller
	VPMINUQ Z0, Z1, Z2

	MIX($30)
	VPMULLQ Z13, Z2, Z2
	MIX($27)
	VPMULLQ Z14, Z2, Z2
	MIX($31)
	VPSLLQ X9, Z2, Z3
	VPCMPUQ $1, Z15, Z3, K1

	VMOVDQA64 Z16, Z4
	VPADDQ Z17, Z16, K2, Z4
	VPADDQ Z18, Z16, Z16
	KMOVW K1, R11
	CMPQ DX, $8
	JGE all
	BZHIL DX, R11, R11
	KMOVW R11, K1

all:
	POPCNTL R11, R11
	VPCOMPRESSQ.Z Z2, K1, Z5
	VPCOMPRESSQ.Z Z4, K1, Z6
	VMOVDQU64 Z5, (DI)
	VMOVDQU64 Z6, (R8)
	LEAQ (DI)(R11*8), DI
	LEAQ (R8)(R11*8), R8
	ADDQ $2, SI
	SUBQ $8, DX
	JGT eight
	SUBQ R12, DI
	SHRQ $3, DI
	MOVQ DI, ret+64(FP)
	VZEROUPPER
	RET
