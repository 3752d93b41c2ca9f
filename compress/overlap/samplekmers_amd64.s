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

// func sampleVector(dst *uint64, p *byte, from, at, n int, threshold uint64) int
TEXT ·sampleVector(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ from+16(FP), CX
	MOVQ at+24(FP), R8
	MOVQ n+32(FP), DX
	MOVQ DI, R12
	MOVQ $0x0f0f0f0f0f0f0f0f, R9
	MOVQ $0x3333333333333333, R10

	// Z10 and Z12 are the shifts of k-mers in a word of 32 bases and in its reverse complement.
	VMOVDQU64 places<>(SB), Z16
	MOVQ CX, AX
	ANDQ $3, AX
	SHLQ $1, AX
	VPBROADCASTQ AX, Z10
	VPADDQ Z16, Z10, Z10
	FILL($28, Z12)
	VPSUBQ Z10, Z12, Z12
	SHRQ $2, CX
	ADDQ CX, SI

	FILL($0xfffffffff, Z11) // seedMask
	FILL($0xbf58476d1ce4e5b9, Z13)
	FILL($0x94d049bb133111eb, Z14)
	VPBROADCASTQ threshold+40(FP), Z15
	SHLQ $1, R8
	VPBROADCASTQ R8, Z0
	VPADDQ Z0, Z16, Z16 // where the k-mers are, twice
	FILL($1, Z17)
	FILL($16, Z18)
	FILL($0xffffffff00000000, Z19)

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
	VPSLLQ $32, Z2, Z3
	VPCMPUQ $1, Z15, Z3, K1

	VMOVDQA64 Z16, Z4
	VPADDQ Z17, Z16, K2, Z4
	VPADDQ Z18, Z16, Z16
	VPANDQ Z19, Z2, Z2
	VPORQ Z4, Z2, Z2
	KMOVW K1, R11
	CMPQ DX, $8
	JGE all
	BZHIL DX, R11, R11
	KMOVW R11, K1

all:
	POPCNTL R11, R11
	VPCOMPRESSQ.Z Z2, K1, Z5
	VMOVDQU64 Z5, (DI)
	LEAQ (DI)(R11*8), DI
	ADDQ $2, SI
	SUBQ $8, DX
	JGT eight
	SUBQ R12, DI
	SHRQ $3, DI
	MOVQ DI, ret+48(FP)
	VZEROUPPER
	RET
