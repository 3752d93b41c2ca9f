#include "textflag.h"

// Offsets in wideTables.
#define FORWARD 0
#define FURTHER 64
#define BACKWARD 128
#define BEFORE 192
#define RUNS0 256
#define RUNS1 320
#define RUNS2 384
#define NUMBERS 448
#define LOW4 960
#define LOWHALF 976
#define HIGHHALF 992
#define BOUNDS 1008
// BOUND is the size of an element of bounds, in which the masks of the reverse strand begin at REVERSE.
#define BOUND 32
#define REVERSE 16

// ADMISSIBLE sets K2 and K3 where the k-mers at position 4i+S are admissible, of the forward and the reverse strand. FLAGS & RUNS is 0
// where there is no run of three bases.
#define ADMISSIBLE(S, FLAGS, RUNS) \
	VPTESTNMW RUNS(R8), FLAGS, K1 \
	KMOVD (4*S)(AX), K2 \
	KMOVD (4*S)(BX), K3 \
	KANDD K1, K2, K2 \
	KANDD K1, K3, K3

// SMALLEST sets X0 to the complement of the largest word of Z0. X31 has all bits set.
#define SMALLEST \
	VEXTRACTI64X4 $1, Z0, Y1 \
	VPMAXUW Y1, Y0, Y0 \
	VEXTRACTI128 $1, Y0, X1 \
	VPMAXUW X1, X0, X0 \
	VPXORQ X31, X0, X0 \
	VPHMINPOSUW X0, X0

// NUMBER takes the numbers of those words of KMERS that are as Z16. The largest are in ACC.
#define NUMBER(I, KMERS, ACC, K) \
	VPCMPEQW KMERS, Z16, K \
	VPMAXUW (NUMBERS+64*I)(R8), ACC, K, ACC

// func scanWide(packed *byte, fwdEnd, revEnd int) (key, number uint32)
TEXT ·scanWide(SB), NOSPLIT, $0-32
	MOVQ packed+0(FP), SI
	MOVQ fwdEnd+8(FP), AX
	MOVQ revEnd+16(FP), BX
	LEAQ ·wideTables(SB), R8
	SHLQ $5, AX
	SHLQ $5, BX
	LEAQ BOUNDS(R8)(AX*1), AX
	LEAQ (BOUNDS+REVERSE)(R8)(BX*1), BX
	VPTERNLOGQ $0xff, Z31, Z31, Z31

	// Z0: bytes 0 to 31, then 2 to 33. Z1: the same with bases reversed and complemented.
	VMOVDQU (SI), Y0
	VINSERTI64X4 $1, 2(SI), Z0, Z0
	VBROADCASTI32X4 LOW4(R8), Z2
	VBROADCASTI32X4 LOWHALF(R8), Z3
	VBROADCASTI32X4 HIGHHALF(R8), Z4
	VPSRLW $4, Z0, Z1
	VPANDQ Z2, Z0, Z5
	VPANDQ Z2, Z1, Z1
	VPSHUFB Z5, Z3, Z5
	VPSHUFB Z1, Z4, Z1
	VPORQ Z5, Z1, Z1

	// Z8 to Z11: the eight bases from 4i, 4i+1, 4i+2 and 4i+3 on, the first one lowest. Z12: the same as in Z8, complemented, the first
	// one highest.
	VMOVDQU64 FORWARD(R8), Z8
	VMOVDQU64 FURTHER(R8), Z7
	VMOVDQU64 BACKWARD(R8), Z12
	VMOVDQU64 BEFORE(R8), Z6
	VPERMB Z0, Z8, Z8
	VPERMB Z0, Z7, Z7
	VPERMB Z1, Z12, Z12
	VPERMB Z1, Z6, Z6
	VPSHRDW $2, Z7, Z8, Z9
	VPSHRDW $4, Z7, Z8, Z10
	VPSHRDW $6, Z7, Z8, Z11

	// Z2, Z3: the lower bit of base j is 1 where it, counted from 4i and 4i+1, and the two after it are equal.
	VMOVDQA64 Z8, Z2
	VPTERNLOGQ $0x7e, Z9, Z10, Z2
	VMOVDQA64 Z9, Z3
	VPTERNLOGQ $0x7e, Z10, Z11, Z3
	VPSRLW $1, Z2, Z4
	VPSRLW $1, Z3, Z5
	VPTERNLOGQ $0x01, Z4, Z2, Z2
	VPTERNLOGQ $0x01, Z5, Z3, Z3

	// Z12 to Z15 and Z8 to Z11: the complements of the admissible k-mers of the forward and the reverse strand, at 4i, 4i+1, 4i+2 and 4i+3;
	// others are 0.
	ADMISSIBLE(1, Z2, RUNS1)
	VPSHLDW.Z $2, Z6, Z12, K2, Z13
	VMOVDQU16.Z Z9, K3, Z9
	ADMISSIBLE(2, Z2, RUNS2)
	VPSHLDW.Z $4, Z6, Z12, K2, Z14
	VMOVDQU16.Z Z10, K3, Z10
	ADMISSIBLE(3, Z3, RUNS2)
	VPSHLDW.Z $6, Z6, Z12, K2, Z15
	VMOVDQU16.Z Z11, K3, Z11
	ADMISSIBLE(0, Z2, RUNS0)
	VMOVDQU16.Z Z12, K2, Z12
	VMOVDQU16.Z Z8, K3, Z8

	VPMAXUW Z12, Z13, Z16
	VPMAXUW Z14, Z15, Z17
	VPMAXUW Z8, Z9, Z18
	VPMAXUW Z10, Z11, Z19
	VPMAXUW Z17, Z16, Z16
	VPMAXUW Z19, Z18, Z18
	VPMAXUW Z18, Z16, Z0
	SMALLEST
	VMOVD X0, CX
	MOVWLZX CX, CX
	MOVL CX, key+24(FP)
	VPXORQ X31, X0, X0
	VPBROADCASTW X0, Z16

	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	NUMBER(0, Z12, Z0, K1)
	NUMBER(1, Z13, Z1, K2)
	NUMBER(2, Z14, Z0, K3)
	NUMBER(3, Z15, Z1, K4)
	NUMBER(4, Z8, Z0, K5)
	NUMBER(5, Z9, Z1, K6)
	NUMBER(6, Z10, Z0, K7)
	NUMBER(7, Z11, Z1, K1)
	VPMAXUW Z1, Z0, Z0
	SMALLEST
	VMOVD X0, CX
	NOTL CX
	MOVWLZX CX, CX
	MOVL CX, number+28(FP)
	VZEROUPPER
	RET
