//go:build !race && !inflate_checked

#include "go_asm.h"
#include "textflag.h"

// Two streams are decoded in turns, a round of one and a round of the other, so that the processor works on both at once: a round
// is mostly waiting for one table after another. A round is a table's entry: literals, a match, or literals and a match. It has no
// branch that depends on which of these it is, since such branches are often predicted wrongly, which would stop both streams.
//
// The registers:
//
//	        stream 0  stream 1
//	IN      SI        R11       the next byte to load
//	OUT     DI        R12       the next byte of text
//	BITS    R8        R13       the bits
//	LOADED  CX        R15       how many are loaded, in the lowest six bits
//	E       AX        BP        the entry of literals and lengths, then the length
//
//	R10                 the tables of stream 0; those of stream 1 follow
//	DX, BX, R9, R14, X0, X1

// Offsets in the stack frame: what does not change.
#define LAST0 last0-8(SP)
#define LAST1 last1-16(SP)
#define LIMIT0 limit0-24(SP)
#define LIMIT1 limit1-32(SP)
#define LOW0 low0-40(SP)
#define LOW1 low1-48(SP)

#define TABLES0 0
#define TABLES1 tables__size

// Offsets of their states.
#define STREAM0 0
#define STREAM1 pairState__size

// LOOKUP makes E the entry that BITS begin with.
#define LOOKUP(BITS, E, TABLES) \
	MOVL BITS, E \
	ANDL $2047, E \
	MOVL (TABLES+tables_lit)(R10)(E*4), E

// LITERALS stores the literals of an entry.
#define LITERALS(OUT, E) \
	RORXL $8, E, BX \
	MOVL BX, (OUT) \
	RORXL $6, E, R9 \
	ANDL $3, R9 \
	ADDQ R9, OUT

// LOAD loads bits until there are 64 of them.
#define LOAD(IN, BITS, LOADED) \
	MOVQ (IN), DX \
	SHLXQ LOADED, DX, DX \
	ORQ  DX, BITS \
	MOVL LOADED, DX \
	SHRL $3, DX \
	ANDL $7, DX \
	ADDQ $7, IN \
	SUBQ DX, IN \
	ORL  $56, LOADED

// ROUND decodes an entry. See fast_loop.h for the number of bits that are needed. Without a match, the distance, its bits, and
// the length are 0, and the copy that follows changes nothing.
#define ROUND(IN, OUT, BITS, LOADED, E, TABLES, LOW, special, distance, oddDistance, copy, near, far, next) \
	LOAD(IN, BITS, LOADED) \
	TESTL $0x20, E \
	JNE  special \
	SHRXQ E, BITS, BITS \
	SUBL E, LOADED \
	LITERALS(OUT, E) \
	MOVL E, R14 \
	SARL $31, R14 \
	SHRL $24, E \
	SUBL $125, E \
	ANDL R14, E \
distance: /* R14 is 0 if there is no match, else -1; then the entry of distances */ \
	MOVL BITS, DX \
	ANDL $511, DX \
	ANDL (TABLES+tables_dist)(R10)(DX*4), R14 \
	TESTL $0xc0, R14 \
	JNE  oddDistance \
copy: \
	BZHIQ R14, BITS, R9 \
	SHRXQ R14, BITS, BITS \
	SUBL R14, LOADED \
	RORXL $8, R14, BX \
	SHRXQ BX, R9, R9 \
	SHRL $16, R14 \
	ADDQ R9, R14 \
	MOVQ OUT, BX \
	SUBQ R14, BX \
	CMPQ BX, LOW \
	JLT  invalid \
	LEAQ (OUT)(E*1), R9 \
	CMPL E, $32 \
	JHI  far \
	LOOKUP(BITS, E, TABLES) \
	LEAL -1(R14), DX \
	CMPL DX, $15 \
	JCS  near \
	MOVOU (BX), X0 \
	MOVOU X0, (OUT) \
	MOVOU 16(BX), X0 \
	MOVOU X0, 16(OUT) \
	MOVQ R9, OUT \
next:

// RARE is what is not done in each round, by the labels of ROUND.
#define RARE(OUT, BITS, LOADED, E, TABLES, STREAM, special, single, extra, literal, distance, odd, copy, near, nearer, far, farther, next) \
special: \
	MOVL E, DX \
	ANDL $0xe0, DX \
	CMPL DX, $0xa0 /* kindSub */ \
	JNE  single \
	SHRQ $11, BITS \
	SUBL $11, LOADED \
	MOVL E, DX \
	ANDL $15, DX \
	BZHIQ DX, BITS, BX \
	SHRL $8, E \
	MOVWLZX E, E \
	ADDL BX, E \
	MOVL (TABLES+tables_litSub)(R10)(E*4), E \
single: \
	MOVL E, DX \
	ANDL $15, DX \
	SHRXQ DX, BITS, BITS \
	SUBL DX, LOADED \
	MOVL E, DX \
	ANDL $0xe0, DX \
	CMPL DX, $0x60 /* kindExtra */ \
	JEQ  extra \
	TESTL $0x20, E \
	JEQ  literal \
	CMPL DX, $0x20 /* kindEnd */ \
	JNE  invalid \
	MOVL $STREAM, R14 \
	JMP  ended \
extra: \
	MOVL E, DX \
	SHRL $16, DX \
	BZHIQ DX, BITS, BX \
	SHRXQ DX, BITS, BITS \
	SUBL DX, LOADED \
	SHRL $8, E \
	ANDL $255, E \
	LEAL 3(E)(BX*1), E \
	MOVL $-1, R14 \
	JMP  distance \
literal: \
	LITERALS(OUT, E) \
	LOOKUP(BITS, E, TABLES) \
	JMP  next \
odd: \
	TESTL $0x40, R14 /* distSub */ \
	JEQ  invalid \
	SHRQ $9, BITS \
	SUBL $9, LOADED \
	MOVL R14, BX \
	SHRL $8, BX \
	ANDL $15, BX \
	BZHIQ BX, BITS, BX \
	SHRL $16, R14 \
	ADDL BX, R14 \
	MOVL (TABLES+tables_distSub)(R10)(R14*4), R14 \
	TESTL $0x80, R14 /* distInvalid */ \
	JEQ  copy \
	JMP  invalid \
near: /* the match overlaps with its copy */ \
	MOVOU (BX), X0 \
	LEAQ ·nearStep(SB), BX \
	MOVBLZX (BX)(R14*1), DX \
	LEAQ ·nearIndices(SB), BX \
	SHLL $4, R14 \
	MOVOU (BX)(R14*1), X1 \
	PSHUFB X1, X0 \
nearer: \
	MOVOU X0, (OUT) \
	ADDQ DX, OUT \
	CMPQ OUT, R9 \
	JCS  nearer \
	MOVQ R9, OUT \
	JMP  next \
far: /* the length is more than 32 */ \
	LOOKUP(BITS, E, TABLES) \
	LEAL -1(R14), DX \
	CMPL DX, $15 \
	JCS  near \
farther: \
	MOVOU (BX), X0 \
	MOVOU X0, (OUT) \
	ADDQ $16, BX \
	ADDQ $16, OUT \
	CMPQ OUT, R9 \
	JCS  farther \
	MOVQ R9, OUT \
	JMP  next

// LOADSTREAM loads a stream's registers, with DX as its state, and limits.
#define LOADSTREAM(IN, OUT, BITS, LOADED, LAST, LIMIT, LOW) \
	MOVQ pairState_in(DX), IN \
	MOVQ pairState_last(DX), BX \
	ADDQ IN, BX \
	MOVQ BX, LAST \
	MOVQ pairState_bit(DX), LOADED \
	MOVQ LOADED, BX \
	SHRQ $3, BX \
	ADDQ BX, IN \
	ANDL $7, LOADED \
	SHRXQ LOADED, (IN), BITS \
	ADDQ $7, IN \
	NEGL LOADED /* of the bits in 8 bytes; what BITS holds above 56 is the same as the byte at IN */ \
	ADDL $56, LOADED \
	MOVQ pairState_out(DX), OUT \
	MOVQ pairState_limit(DX), BX \
	ADDQ OUT, BX \
	MOVQ BX, LIMIT \
	MOVQ pairState_low(DX), BX \
	ADDQ OUT, BX \
	MOVQ BX, LOW \
	ADDQ pairState_n(DX), OUT

// STORESTREAM is the opposite.
#define STORESTREAM(IN, OUT, LOADED) \
	SUBQ pairState_out(DX), OUT \
	MOVQ OUT, pairState_n(DX) \
	SUBQ pairState_in(DX), IN \
	ANDL $63, LOADED \
	SHLQ $3, IN \
	SUBQ LOADED, IN \
	MOVQ IN, pairState_bit(DX)

// func fastPair(s *[2]pairState, tables *[2]tables) bool
TEXT ·fastPair(SB), NOSPLIT, $48-17
	MOVQ s+0(FP), DX
	MOVQ tables+8(FP), R10
	LOADSTREAM(SI, DI, R8, CX, LAST0, LIMIT0, LOW0)
	ADDQ $pairState__size, DX
	LOADSTREAM(R11, R12, R13, R15, LAST1, LIMIT1, LOW1)
	LOOKUP(R8, AX, TABLES0)
	LOOKUP(R13, BP, TABLES1)

	// The checks are for two rounds of each stream.
	PCALIGN $32
loop:
	CMPQ DI, LIMIT0
	JCC  full
	CMPQ SI, LAST0
	JHI  full
	CMPQ R12, LIMIT1
	JCC  full
	CMPQ R11, LAST1
	JHI  full
	ROUND(SI, DI, R8, CX, AX, TABLES0, LOW0, special0, dist0, odd0, copy0, near0, far0, next0)
	ROUND(R11, R12, R13, R15, BP, TABLES1, LOW1, special1, dist1, odd1, copy1, near1, far1, next1)
	ROUND(SI, DI, R8, CX, AX, TABLES0, LOW0, special2, dist2, odd2, copy2, near2, far2, next2)
	ROUND(R11, R12, R13, R15, BP, TABLES1, LOW1, special3, dist3, odd3, copy3, near3, far3, next3)
	JMP  loop

	RARE(DI, R8, CX, AX, TABLES0, STREAM0, special0, single0, extra0, literal0, dist0, odd0, copy0, near0, nearer0, far0, farther0, next0)
	RARE(R12, R13, R15, BP, TABLES1, STREAM1, special1, single1, extra1, literal1, dist1, odd1, copy1, near1, nearer1, far1, farther1, next1)
	RARE(DI, R8, CX, AX, TABLES0, STREAM0, special2, single2, extra2, literal2, dist2, odd2, copy2, near2, nearer2, far2, farther2, next2)
	RARE(R12, R13, R15, BP, TABLES1, STREAM1, special3, single3, extra3, literal3, dist3, odd3, copy3, near3, nearer3, far3, farther3, next3)

ended: // the block of the stream whose state is at offset R14
	MOVQ s+0(FP), DX
	ADDQ R14, DX
	MOVQ $1, pairState_ended(DX)
full:
	MOVQ s+0(FP), DX
	STORESTREAM(SI, DI, CX)
	ADDQ $pairState__size, DX
	STORESTREAM(R11, R12, R15)
	MOVB $1, ret+16(FP)
	RET

invalid:
	MOVB $0, ret+16(FP)
	RET
