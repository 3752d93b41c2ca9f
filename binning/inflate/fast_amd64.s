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
