#include "textflag.h"

// The size of an element of places, and the offset of its step.
#define PLACES 256
#define STEP 128
// ORIGIN is the constant of that name.
#define ORIGIN 1024
// STORED is the offset of the k-mers of the reverse strand in the frame; before them are those of the forward strand.
#define STORED 512

// Bases reversed and complemented, by half a byte of two: what the low half becomes, then the high half. Each table is there
// twice, for both halves of a register.
DATA lowHalf<>+0(SB)/8, $0x2060a0e03070b0f0
DATA lowHalf<>+8(SB)/8, $0x004080c0105090d0
DATA lowHalf<>+16(SB)/8, $0x2060a0e03070b0f0
DATA lowHalf<>+24(SB)/8, $0x004080c0105090d0
GLOBL lowHalf<>(SB), RODATA|NOPTR, $32
DATA highHalf<>+0(SB)/8, $0x02060a0e03070b0f
DATA highHalf<>+8(SB)/8, $0x0004080c0105090d
DATA highHalf<>+16(SB)/8, $0x02060a0e03070b0f
DATA highHalf<>+24(SB)/8, $0x0004080c0105090d
GLOBL highHalf<>(SB), RODATA|NOPTR, $32
DATA low4<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA low4<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA low4<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA low4<>+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL low4<>(SB), RODATA|NOPTR, $32

// The places in a k-mer where a run of three bases may begin, for k-mers that begin at base 0, 1 and 2 of a word.
DATA runs0<>+0(SB)/8, $0x0555055505550555
DATA runs0<>+8(SB)/8, $0x0555055505550555
DATA runs0<>+16(SB)/8, $0x0555055505550555
DATA runs0<>+24(SB)/8, $0x0555055505550555
GLOBL runs0<>(SB), RODATA|NOPTR, $32
DATA runs1<>+0(SB)/8, $0x1554155415541554
DATA runs1<>+8(SB)/8, $0x1554155415541554
DATA runs1<>+16(SB)/8, $0x1554155415541554
DATA runs1<>+24(SB)/8, $0x1554155415541554
GLOBL runs1<>(SB), RODATA|NOPTR, $32
DATA runs2<>+0(SB)/8, $0x5550555055505550
DATA runs2<>+8(SB)/8, $0x5550555055505550
DATA runs2<>+16(SB)/8, $0x5550555055505550
DATA runs2<>+24(SB)/8, $0x5550555055505550
GLOBL runs2<>(SB), RODATA|NOPTR, $32

// ROW sets PTR to the row of a table for BOUND, which is first limited to 0..64. R13 is 64; R12 is overwritten.
#define ROW(TABLE, BOUND, PTR) \
	XORL R12, R12 \
	MOVQ BOUND, PTR \
	CMPQ PTR, R13 \
	CMOVQGT R13, PTR \
	TESTQ PTR, PTR \
	CMOVQLT R12, PTR \
	LEAQ TABLE(SB), R12 \
	SHLQ $7, PTR \
	ADDQ R12, PTR

// KMERS takes 16 k-mers, that at position 4i+S in lane i: FWD, complemented, of the forward strand, and REV, complemented, of
// the reverse strand. Those that are not admissible or out of bounds become 0. FLAGS & RUNS is RUNS where there is no run of three
// bases.
#define KMERS(S, FWD, REV, FLAGS, RUNS) \
	VPAND RUNS<>(SB), FLAGS, Y11 \
	VPCMPEQW RUNS<>(SB), Y11, Y11 \
	VPAND (32*S)(AX), Y11, Y12 \
	VPAND (32*S)(BX), Y12, Y12 \
	VPAND (32*S)(CX), Y11, Y11 \
	VPAND (32*S)(DX), Y11, Y11 \
	VPAND FWD, Y12, Y12 \
	VPAND REV, Y11, Y11 \
	VMOVDQU Y12, (32*S)(DI) \
	VMOVDQU Y11, (STORED+32*S)(DI) \
	VPMAXUW Y12, Y15, Y15 \
	VPMAXUW Y11, Y14, Y14

// SMALLEST sets R to the complement of the largest word of Y_, whose lower half is X_. Y10 has all bits set.
#define SMALLEST(Y_, X_, R) \
	VPXOR Y10, Y_, Y_ \
	VEXTRACTI128 $1, Y_, X11 \
	VPMINUW X11, X_, X_ \
	VPHMINPOSUW X_, X_ \
	VMOVD X_, R \
	MOVWLZX R, R

// func scanVector(packed *byte, groups, fwdStart, fwdEnd, revStart, revEnd int) (key, pos, reverse uint32)
TEXT ·scanVector(SB), 0, $1024-60
	MOVQ packed+0(FP), SI
	MOVQ groups+8(FP), R15
	MOVQ fwdStart+16(FP), R8
	MOVQ fwdEnd+24(FP), R9
	MOVQ revStart+32(FP), R10
	MOVQ revEnd+40(FP), R11
	LEAQ stored-1024(SP), DI
	MOVL $64, R13
	VPXOR Y14, Y14, Y14
	VPXOR Y15, Y15, Y15

group:
	ROW(·from, R8, AX)
	ROW(·below, R9, BX)
	ROW(·from, R10, CX)
	ROW(·below, R11, DX)

	// Y0, Y3, Y4, Y5: the eight bases from 4i, 4i+1, 4i+2 and 4i+3 on, the first one lowest
	VPMOVZXBW (SI), Y0
	VPMOVZXBW 1(SI), Y1
	VPMOVZXBW 2(SI), Y2
	VPSLLW $8, Y1, Y1
	VPOR Y1, Y0, Y0
	VPSRLW $2, Y0, Y3
	VPSLLW $14, Y2, Y6
	VPOR Y6, Y3, Y3
	VPSRLW $4, Y0, Y4
	VPSLLW $12, Y2, Y6
	VPOR Y6, Y4, Y4
	VPSRLW $6, Y0, Y5
	VPSLLW $10, Y2, Y6
	VPOR Y6, Y5, Y5

	// Y1, Y2: the lower bit of base j is 0 where it, counted from 4i and 4i+1, and the two after it are equal
	VPXOR Y0, Y3, Y1
	VPXOR Y0, Y4, Y2
	VPOR Y2, Y1, Y1
	VPSRLW $1, Y1, Y2
	VPOR Y2, Y1, Y1
	VPXOR Y3, Y4, Y2
	VPXOR Y3, Y5, Y6
	VPOR Y6, Y2, Y2
	VPSRLW $1, Y2, Y6
	VPOR Y6, Y2, Y2

	// Y7, Y6, Y8, Y9: the same bases as in Y0, Y3, Y4, Y5, complemented, the first one highest
	VMOVDQU (SI), Y6
	VPAND low4<>(SB), Y6, Y7
	VPSRLW $4, Y6, Y6
	VPAND low4<>(SB), Y6, Y6
	VMOVDQU lowHalf<>(SB), Y8
	VPSHUFB Y7, Y8, Y7
	VMOVDQU highHalf<>(SB), Y8
	VPSHUFB Y6, Y8, Y6
	VPOR Y6, Y7, Y7
	VEXTRACTI128 $1, Y7, X6
	VPALIGNR $1, X7, X6, X8
	VPALIGNR $2, X7, X6, X10
	VPMOVZXBW X7, Y7
	VPMOVZXBW X8, Y8
	VPMOVZXBW X10, Y10
	VPSLLW $8, Y7, Y7
	VPOR Y8, Y7, Y7
	VPSLLW $2, Y7, Y6
	VPSRLW $6, Y10, Y9
	VPOR Y9, Y6, Y6
	VPSLLW $4, Y7, Y8
	VPSRLW $4, Y10, Y9
	VPOR Y9, Y8, Y8
	VPSLLW $6, Y7, Y9
	VPSRLW $2, Y10, Y10
	VPOR Y10, Y9, Y9

	KMERS(0, Y7, Y0, Y1, runs0)
	KMERS(1, Y6, Y3, Y1, runs1)
	KMERS(2, Y8, Y4, Y1, runs2)
	KMERS(3, Y9, Y5, Y2, runs2)

	ADDQ $16, SI
	ADDQ $128, DI
	SUBQ R13, R8
	SUBQ R13, R9
	SUBQ R13, R10
	SUBQ R13, R11
	DECQ R15
	JNZ group

	// The largest of each strand, complemented, is the smallest k-mer. Of equal ones that of the forward strand counts.
	VPCMPEQW Y10, Y10, Y10
	SMALLEST(Y15, X15, AX)
	SMALLEST(Y14, X14, BX)
	MOVQ groups+8(FP), R15
	LEAQ stored-1024(SP), DI
	LEAQ ·places(SB), SI
	LEAQ PLACES(SI), R8
	LEAQ STORED(DI), R9
	XORL CX, CX
	// No branch here: it would be predicted wrongly half of the time.
	CMPL BX, AX
	CMOVLCS BX, AX
	CMOVQCS R8, SI
	CMOVQCS R9, DI
	ADCL $0, CX
	MOVL AX, key+48(FP)
	MOVL CX, reverse+56(FP)
	VMOVD AX, X0
	VPBROADCASTW X0, Y0
	VPXOR Y10, Y0, Y0
	VMOVDQU (SI), Y1
	VMOVDQU 32(SI), Y2
	VMOVDQU 64(SI), Y3
	VMOVDQU 96(SI), Y4
	VPBROADCASTD STEP(SI), Y5
	VPXOR Y15, Y15, Y15

place:
	VPCMPEQW (DI), Y0, Y6
	VPCMPEQW 32(DI), Y0, Y7
	VPCMPEQW 64(DI), Y0, Y8
	VPCMPEQW 96(DI), Y0, Y9
	VPAND Y1, Y6, Y6
	VPAND Y2, Y7, Y7
	VPAND Y3, Y8, Y8
	VPAND Y4, Y9, Y9
	VPMAXUW Y6, Y7, Y7
	VPMAXUW Y8, Y9, Y9
	VPMAXUW Y7, Y15, Y15
	VPMAXUW Y9, Y15, Y15
	VPADDW Y5, Y1, Y1
	VPADDW Y5, Y2, Y2
	VPADDW Y5, Y3, Y3
	VPADDW Y5, Y4, Y4
	ADDQ $128, DI
	DECQ R15
	JNZ place

	// AX is the complement of the largest number.
	SMALLEST(Y15, X15, AX)
	VZEROUPPER
	LEAL (ORIGIN-65535)(AX), BX
	NEGL AX
	ADDL $65534, AX
	TESTL CX, CX
	CMOVLEQ BX, AX
	MOVL AX, pos+52(FP)
	RET
