//go:build !race && !inflate_checked

#include "textflag.h"

// The registers:
//
//	SI, R13   the next byte to load, and the last one to load from
//	DI, R12   the next byte of text, and the limit
//	R11       where a match may begin
//	R8, CX    the bits, and how many are loaded (in the lowest six bits)
//	R10       tables
//	AX        the entry of literals and lengths, then the length plus 125
//	DX        the entry of distances, then the distance
//	R14       where the match ends

// Offsets in a fastState.
#define IN 0
#define OUT 8
#define POS 16
#define LAST 24
#define N 32
#define LIMIT 40
#define LOW 48
#define BITS 56
#define LOADED 64
#define TABLES 72
#define ENDED 80

// Offsets in tables.
#define DIST 8192
#define LITSUB 10240
#define DISTSUB 12288

// repeat has for every distance d below 16 the indices i%d of 16 bytes.
DATA repeat<>+0x10(SB)/8, $0x0000000000000000
DATA repeat<>+0x18(SB)/8, $0x0000000000000000
DATA repeat<>+0x20(SB)/8, $0x0100010001000100
DATA repeat<>+0x28(SB)/8, $0x0100010001000100
DATA repeat<>+0x30(SB)/8, $0x0100020100020100
DATA repeat<>+0x38(SB)/8, $0x0002010002010002
DATA repeat<>+0x40(SB)/8, $0x0302010003020100
DATA repeat<>+0x48(SB)/8, $0x0302010003020100
DATA repeat<>+0x50(SB)/8, $0x0201000403020100
DATA repeat<>+0x58(SB)/8, $0x0004030201000403
DATA repeat<>+0x60(SB)/8, $0x0100050403020100
DATA repeat<>+0x68(SB)/8, $0x0302010005040302
DATA repeat<>+0x70(SB)/8, $0x0006050403020100
DATA repeat<>+0x78(SB)/8, $0x0100060504030201
DATA repeat<>+0x80(SB)/8, $0x0706050403020100
DATA repeat<>+0x88(SB)/8, $0x0706050403020100
DATA repeat<>+0x90(SB)/8, $0x0706050403020100
DATA repeat<>+0x98(SB)/8, $0x0605040302010008
DATA repeat<>+0xa0(SB)/8, $0x0706050403020100
DATA repeat<>+0xa8(SB)/8, $0x0504030201000908
DATA repeat<>+0xb0(SB)/8, $0x0706050403020100
DATA repeat<>+0xb8(SB)/8, $0x04030201000a0908
DATA repeat<>+0xc0(SB)/8, $0x0706050403020100
DATA repeat<>+0xc8(SB)/8, $0x030201000b0a0908
DATA repeat<>+0xd0(SB)/8, $0x0706050403020100
DATA repeat<>+0xd8(SB)/8, $0x0201000c0b0a0908
DATA repeat<>+0xe0(SB)/8, $0x0706050403020100
DATA repeat<>+0xe8(SB)/8, $0x01000d0c0b0a0908
DATA repeat<>+0xf0(SB)/8, $0x0706050403020100
DATA repeat<>+0xf8(SB)/8, $0x000e0d0c0b0a0908
GLOBL repeat<>(SB), RODATA|NOPTR, $256

// step has for every distance d below 16 the greatest multiple of it up to 16.
DATA step<>+0x00(SB)/8, $0x0e0c0f100f101000
DATA step<>+0x08(SB)/8, $0x0f0e0d0c0b0a0910
GLOBL step<>(SB), RODATA|NOPTR, $16

// LOOKUP makes AX the entry of literals and lengths that the bits begin with.
#define LOOKUP \
	MOVL R8, AX \
	ANDL $2047, AX \
	MOVL (R10)(AX*4), AX

// NEXT begins the next round.
#define NEXT \
	CMPQ DI, R12 \
	JAE  full \
	CMPQ SI, R13 \
	JLS  refill \
	JMP  full

// Bytes.

// LITERALS stores the literals of an entry.
#define LITERALS \
	RORXL $8, AX, BX \
	MOVL BX, (DI) \
	RORXL $6, AX, R9 \
	ANDL $3, R9 \
	ADDQ R9, DI

// SOURCE makes BX where a match is copied from, and R14 where the copy ends.
#define SOURCE \
	MOVQ DI, BX \
	SUBQ DX, BX \
	CMPQ BX, R11 \
	JLT invalid \
	LEAQ -125(DI)(AX*1), R14

// func fastBytes(s *fastState) bool
TEXT ·fastBytes(SB), NOSPLIT, $0-9
#include "fast_loop.h"

// Symbols of 16 bits.
#undef LITERALS
#undef SOURCE

#define LITERALS \
	RORXL $8, AX, BX \
	MOVQ BX, X0 \
	PMOVZXBW X0, X0 \
	MOVQ X0, (DI) \
	RORXL $5, AX, R9 \
	ANDL $6, R9 \
	ADDQ R9, DI

#define SOURCE \
	ADDQ DX, DX \
	MOVQ DI, BX \
	SUBQ DX, BX \
	LEAQ -250(DI)(AX*2), R14

// func fastSymbols(s *fastState) bool
TEXT ·fastSymbols(SB), NOSPLIT, $0-9
#include "fast_loop.h"
