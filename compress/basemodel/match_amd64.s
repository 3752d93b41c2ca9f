#include "go_asm.h"
#include "textflag.h"

DATA numbers<>+0(SB)/4, $1
DATA numbers<>+4(SB)/4, $2
DATA numbers<>+8(SB)/4, $3
DATA numbers<>+12(SB)/4, $4
DATA numbers<>+16(SB)/4, $6
DATA numbers<>+20(SB)/4, $8
DATA numbers<>+24(SB)/4, $15
DATA numbers<>+28(SB)/4, $30
DATA numbers<>+32(SB)/4, $255
DATA numbers<>+36(SB)/4, $const_registerBases
DATA numbers<>+40(SB)/4, $(const_maxMisses+1)
DATA numbers<>+44(SB)/4, $const_kmerFactor
DATA numbers<>+48(SB)/4, $(1<<(2*const_matchLen)-1)
GLOBL numbers<>(SB), RODATA|NOPTR, $52

#define N1 numbers<>+0(SB)
#define N2 numbers<>+4(SB)
#define N3 numbers<>+8(SB)
#define N4 numbers<>+12(SB)
#define N6 numbers<>+16(SB)
#define N8 numbers<>+20(SB)
#define N15 numbers<>+24(SB)
#define N30 numbers<>+28(SB)
#define N255 numbers<>+32(SB)
#define BASES numbers<>+36(SB)
#define TOOMANY numbers<>+40(SB)
#define FACTOR numbers<>+44(SB)
#define KMER numbers<>+48(SB)

// classes are classOf.
DATA classes<>+0(SB)/8, $0x0407030106050301
DATA classes<>+8(SB)/8, $0x0000000004030201
GLOBL classes<>(SB), RODATA|NOPTR, $16

#define PLACE (step_matches+matches_place)
#define FORWARD (step_matches+matches_forward)
#define REVERSE (step_matches+matches_reverse)
#define SOURCE (step_matches+matches_source)
#define DIRECTION (step_matches+matches_direction)
#define PREDICTED (step_matches+matches_predicted)
#define MISSES (step_matches+matches_misses)
#define MISSED (step_matches+matches_missed)
#define RUN (step_matches+matches_run)
#define SLOT (step_matches+matches_slot)
#define TURNED (step_matches+matches_turned)
#define FOUND (step_matches+matches_found)
#define SIXTEEN (step_matches+matches_sixteen)

// APPEND appends the bases of four lanes, from lane l on, to those that they have passed.
#define APPEND(l) \
	VPMOVZXWQ (step_bases+2*l)(DI), Y0 \
	VPSLLQ $2, (FORWARD+8*l)(DI), Y1 \
	VPOR Y0, Y1, Y1 \
	VMOVDQU Y1, (FORWARD+8*l)(DI) \
	VPXOR Y15, Y0, Y0 \
	VPSLLQ $62, Y0, Y0 \
	VPSRLQ $2, (REVERSE+8*l)(DI), Y1 \
	VPOR Y0, Y1, Y1 \
	VMOVDQU Y1, (REVERSE+8*l)(DI)

// FOLLOW moves the matches of eight lanes past their bases. Y14 is the last place that there is.
#define FOLLOW(l) \
	VPMOVZXWD (step_bases+2*l)(DI), Y0 \
	VPCMPEQD (PREDICTED+4*l)(DI), Y0, Y0 \
	VPXOR Y15, Y0, Y1 \ // all ones: a miss
	VPBROADCASTD N1, Y2 \
	VMOVDQU (MISSES+4*l)(DI), Y3 \
	VMOVDQU (MISSED+4*l)(DI), Y4 \
	VPAND Y2, Y3, Y5 \
	VPSUBD Y5, Y4, Y4 \
	VPSUBD Y1, Y4, Y4 \
	VPSRLD $1, Y3, Y3 \
	VPSLLD $31, Y1, Y1 \
	VPOR Y1, Y3, Y3 \
	VPADDD (RUN+4*l)(DI), Y2, Y5 \
	VPBROADCASTD BASES, Y7 \
	VPMINUD Y7, Y5, Y5 \
	VPAND Y0, Y5, Y5 \
	VMOVDQU (DIRECTION+4*l)(DI), Y1 \
	VPADDD (SOURCE+4*l)(DI), Y1, Y6 \
	VPBROADCASTD TOOMANY, Y0 \
	VPCMPGTD Y4, Y0, Y0 \
	VPMINUD Y14, Y6, Y2 \
	VPCMPEQD Y2, Y6, Y2 \
	VPAND Y2, Y0, Y0 \ // all ones: the match goes on
	VPAND Y0, Y6, Y6 \
	VPAND Y0, Y1, Y1 \
	VPAND Y0, Y5, Y5 \
	VPBLENDVB Y0, Y4, Y7, Y4 \
	VPXOR Y15, Y0, Y0 \
	VPOR Y0, Y3, Y3 \
	VMOVDQU Y6, (SOURCE+4*l)(DI) \
	VMOVDQU Y1, (DIRECTION+4*l)(DI) \
	VMOVDQU Y3, (MISSES+4*l)(DI) \
	VMOVDQU Y4, (MISSED+4*l)(DI) \
	VMOVDQU Y5, (RUN+4*l)(DI)

// PREPARE sets what the predictor needs of eight lanes.
#define PREPARE(l) \
	VPXOR Y0, Y0, Y0 \
	VMOVDQU (DIRECTION+4*l)(DI), Y1 \
	VPCMPEQD Y0, Y1, Y2 \ // all ones: there is no match
	VPSRLD $30, Y1, Y1 \
	VMOVDQU (SOURCE+4*l)(DI), Y3 \
	VPADDD Y3, Y3, Y3 \
	VPBROADCASTD N30, Y4 \
	VPAND Y4, Y3, Y3 \
	VMOVDQU (SIXTEEN+4*l)(DI), Y4 \
	VPSRLVD Y3, Y4, Y4 \
	VPXOR Y1, Y4, Y4 \
	VPBROADCASTD N3, Y5 \
	VPAND Y5, Y4, Y4 \ // the predicted base
	VPBROADCASTD N4, Y6 \
	VPBLENDVB Y2, Y6, Y4, Y3 \
	VMOVDQU Y3, (PREDICTED+4*l)(DI) \
	VMOVDQU (RUN+4*l)(DI), Y1 \
	VMOVDQU (MISSED+4*l)(DI), Y3 \
	VPSRLD $1, Y1, Y7 \
	VPADDD Y5, Y7, Y7 \
	VPSRLD $2, Y1, Y8 \
	VPBROADCASTD N6, Y9 \
	VPADDD Y9, Y8, Y8 \
	VPMINUD Y8, Y7, Y7 \
	VPMINUD Y1, Y7, Y7 \
	VPSLLD $6, Y7, Y7 \
	VPBROADCASTD N15, Y8 \
	VPMINUD Y8, Y3, Y9 \
	VPSLLD $2, Y9, Y9 \
	VPADDD Y9, Y7, Y7 \
	VPADDD Y4, Y7, Y7 \
	VPADDD Y6, Y7, Y7 \
	VPANDN Y7, Y2, Y7 \
	VMOVDQU Y7, (step_match+4*l)(DI) \
	VPSRLD $3, Y1, Y1 \
	VPBROADCASTD N2, Y6 \
	VPMINUD Y6, Y1, Y1 \
	VPSLLD $2, Y1, Y1 \
	VPCMPGTD Y0, Y3, Y0 \
	VPSUBD Y0, Y1, Y1 \
	VPCMPGTD Y6, Y3, Y0 \
	VPSUBD Y0, Y1, Y1 \
	VPBROADCASTD N8, Y6 \
	VPCMPGTD Y6, Y3, Y0 \
	VPSUBD Y0, Y1, Y1 \
	VBROADCASTI128 classes<>(SB), Y0 \
	VPSHUFB Y1, Y0, Y0 \
	VPBROADCASTD N255, Y1 \
	VPAND Y1, Y0, Y0 \
	VPANDN Y0, Y2, Y0 \
	VMOVDQU Y0, (step_set+4*l)(DI) \
	VPSLLD $2, Y0, Y0 \
	VPSUBD Y5, Y0, Y0 \
	VPADDD Y4, Y0, Y0 \
	VPANDN Y0, Y2, Y0 \
	VPSLLD $4, Y0, Y0 \
	VMOVDQU (FORWARD+8*l)(DI), Y1 \
	VSHUFPS $0x88, (FORWARD+8*l+32)(DI), Y1, Y1 \
	VPERMQ $0xd8, Y1, Y1 \
	VMOVDQU Y1, (step_last+4*l)(DI) \
	VPAND Y8, Y1, Y2 \
	VPOR Y2, Y0, Y0 \
	VMOVDQU Y0, (step_joint+4*l)(DI) \
	VMOVDQU (REVERSE+8*l)(DI), Y2 \
	VSHUFPS $0xdd, (REVERSE+8*l+32)(DI), Y2, Y2 \
	VPERMQ $0xd8, Y2, Y2 \
	VPSLLD $2, Y2, Y3 \
	VPSRLD $(32-2*const_strandBases), Y3, Y3 \
	VMOVDQU Y3, (step_strand+4*l)(DI) \
	VPSRLD $(32-2*const_matchLen), Y2, Y2 \
	VPBROADCASTD KMER, Y3 \
	VPAND Y3, Y1, Y1 \
	VPCMPGTD Y2, Y1, Y3 \
	VPSRLD $31, Y3, Y3 \
	VMOVDQU Y3, (TURNED+4*l)(DI) \
	VPMINUD Y2, Y1, Y1 \
	VPBROADCASTD FACTOR, Y2 \
	VPMULLD Y2, Y1, Y1 \
	VPSRLD X14, Y1, Y1 \
	VMOVDQU Y1, (SLOT+4*l)(DI)

// func passVector(x *step, slots *uint32, words *uint64, size, shift uint)
TEXT ·passVector(SB), NOSPLIT, $0-40
	MOVQ x+0(FP), DI
	MOVQ slots+8(FP), SI
	MOVQ words+16(FP), BX
	VPCMPEQD Y15, Y15, Y15
	VPBROADCASTD size+24(FP), Y14
	VPADDD Y15, Y14, Y14
	APPEND(0)
	APPEND(4)
	APPEND(8)
	APPEND(12)
	FOLLOW(0)
	FOLLOW(8)
	MOVQ $const_everyBase, R15
	XORL CX, CX

lane:
	CMPL step_active(DI)(CX*4), $0
	JEQ next
	// The base is entered in the history.
	MOVL PLACE(DI)(CX*4), R8
	MOVL R8, AX
	SHRL $5, AX
	LEAL (R8)(R8*1), R9
	MOVWLZX step_bases(DI)(CX*2), DX
	SHLXQ R9, DX, DX
	ORQ DX, (BX)(AX*8)
	INCL R8
	MOVL R8, PLACE(DI)(CX*4)

	// The k-mer that was found is tried.
	MOVL (FOUND)(DI)(CX*4), R10
	CMPL R10, $1
	JLS tried
	MOVL MISSED(DI)(CX*4), R11
	TESTL R11, R11
	JEQ tried
	MOVQ REVERSE(DI)(CX*8), R12
	MOVQ FORWARD(DI)(CX*8), R13
	MOVL R10, R9
	SHRL $1, R10
	LEAQ -const_registerBases+3(R10), R14 // where those that correspond to the last bases begin
	LEAQ 3(R10), R10 // source
	ANDL $1, R9
	JEQ forward
	LEAQ -const_matchLen-4(R10), R14
	LEAQ -1(R14), R10
	MOVQ R13, R12

forward:
	MOVQ size+24(FP), DX
	CMPQ R10, DX
	JCC tried
	SUBQ $const_registerBases, DX
	JLT tried
	CMPQ R14, DX
	JHI tried // or R14 is negative
	MOVQ R14, AX
	SHRQ $5, AX
	ADDQ R14, R14
	SHRXQ R14, (BX)(AX*8), DX
	NOTQ R14
	MOVQ 8(BX)(AX*8), AX
	ADDQ AX, AX
	SHLXQ R14, AX, AX
	ORQ AX, DX
	XORQ R12, DX
	NOTQ DX
	MOVQ DX, AX
	SHRQ $1, AX
	ORQ AX, DX
	ANDQ R15, DX
	POPCNTQ DX, R12
	CMPL R12, $const_startMisses
	JHI tried
	CMPL R12, R11
	JCC tried
	// A match begins.
	PEXTQ R15, DX, DX
	NEGL R9
	JEQ begins
	BSWAPL DX
	MOVL DX, AX
	ANDL $0x0f0f0f0f, AX
	SHLL $4, AX
	SHRL $4, DX
	ANDL $0x0f0f0f0f, DX
	ORL AX, DX
	MOVL DX, AX
	ANDL $0x33333333, AX
	SHLL $2, AX
	SHRL $2, DX
	ANDL $0x33333333, DX
	ORL AX, DX
	MOVL DX, AX
	ANDL $0x55555555, AX
	ADDL AX, AX
	SHRL $1, DX
	ANDL $0x55555555, DX
	ORL AX, DX

begins:
	ORL $1, R9
	MOVL R10, SOURCE(DI)(CX*4)
	MOVL R9, DIRECTION(DI)(CX*4)
	MOVL DX, MISSES(DI)(CX*4)
	MOVL R12, MISSED(DI)(CX*4)
	MOVL $-1, AX
	BSRL DX, DX
	CMOVLEQ AX, DX
	MOVL $31, AX
	SUBL DX, AX
	MOVL AX, RUN(DI)(CX*4)

tried:
	XORL DX, DX
	MOVL SLOT(DI)(CX*4), AX
	CMPL AX, $const_noSlot
	JEQ found
	MOVL (SI)(AX*4), DX
	MOVL TURNED(DI)(CX*4), R9
	XORL R9, DX
	TESTL $1, R8
	JNE found
	LEAL -4(R9)(R8*2), R9
	MOVL R9, (SI)(AX*4)

found:
	MOVL DX, FOUND(DI)(CX*4)
	MOVL SOURCE(DI)(CX*4), AX
	SHRL $4, AX
	MOVL (BX)(AX*4), AX
	MOVL AX, SIXTEEN(DI)(CX*4)

next:
	INCL CX
	CMPL CX, $const_numLanes
	JNE lane

	MOVQ shift+32(FP), AX
	VMOVQ AX, X14
	PREPARE(0)
	PREPARE(8)
	VZEROUPPER
	RET
