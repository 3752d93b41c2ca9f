#include "go_asm.h"
#include "textflag.h"

// Sums and errors, four words of each lane, are in an order that gives that of lanes when they are sorted by decision: eight times the
// place of lane l is in byte 4*l.
DATA slots<>+0(SB)/8, $0x0000000800000000
DATA slots<>+8(SB)/8, $0x0000002800000020
DATA slots<>+16(SB)/8, $0x0000004800000040
DATA slots<>+24(SB)/8, $0x0000006800000060
DATA slots<>+32(SB)/8, $0x0000001800000010
DATA slots<>+40(SB)/8, $0x0000003800000030
DATA slots<>+48(SB)/8, $0x0000005800000050
DATA slots<>+56(SB)/8, $0x0000007800000070
GLOBL slots<>(SB), RODATA|NOPTR, $64

DATA consts<>+0(SB)/8, $0x8000800080008000 // high byte: none
DATA consts<>+8(SB)/8, $0x8000800080008000
DATA consts<>+16(SB)/8, $0x0080008000800080 // low byte: none
DATA consts<>+24(SB)/8, $0x0080008000800080
DATA consts<>+32(SB)/8, $0x0001000100010001 // 1
DATA consts<>+40(SB)/8, $0x0001000100010001
DATA consts<>+48(SB)/8, $0x0b0a030209080100 // pairs of lanes: word by word
DATA consts<>+56(SB)/8, $0x0f0e07060d0c0504
DATA consts<>+64(SB)/8, $0x3ffc3ffc3ffc3ffc // 16380
DATA consts<>+72(SB)/8, $0x3ffc3ffc3ffc3ffc
DATA consts<>+80(SB)/8, $0x7fff7fff7fff7fff // 32767
DATA consts<>+88(SB)/8, $0x7fff7fff7fff7fff
DATA consts<>+96(SB)/8, $0xe000e000e000e000 // -8192
DATA consts<>+104(SB)/8, $0xe000e000e000e000
DATA consts<>+112(SB)/8, $0x0706070607060706 // the rate of each node
DATA consts<>+120(SB)/8, $0x0f0e0f0e0f0e0f0e
DATA consts<>+128(SB)/8, $0x0400040004000400 // 1024
DATA consts<>+136(SB)/8, $0x0400040004000400
DATA consts<>+144(SB)/8, $0xe000000000000000 // -8192 for the rate
DATA consts<>+152(SB)/8, $0xe000000000000000
GLOBL consts<>(SB), RODATA|NOPTR, $160

DATA masks<>+0(SB)/4, $0xf
DATA masks<>+4(SB)/4, $0x3f
DATA masks<>+8(SB)/4, $0xff
DATA masks<>+12(SB)/4, $0xfff
DATA masks<>+16(SB)/4, $0xffff
DATA masks<>+20(SB)/4, $0xfffff
GLOBL masks<>(SB), RODATA|NOPTR, $24

// ORDER finds the nodes of the context of some bases, f, of the last bases Y0 and Y1.
#define ORDER(f) \
	VPBROADCASTD masks<>+(4*f)(SB), Y2 \
	VPAND Y0, Y2, Y3 \
	VPAND Y1, Y2, Y4 \
	VMOVDQU Y3, (step_nodeAt+64*f)(DI) \
	VMOVDQU Y4, (step_nodeAt+64*f+32)(DI)

// READ2 reads the nodes of two contexts.
#define READ2(atA, nA, atB, nB, X_) \
	MOVL (atA)(DI)(CX*1), R8 \
	MOVL (atB)(DI)(CX*1), R9 \
	VMOVQ (nA*8)(SI)(R8*8), X_ \
	VPINSRQ $1, (nB*8)(SI)(R9*8), X_, X_

#define WRITE2(atA, nA, atB, nB, X_) \
	MOVL (atA)(DI)(CX*1), R8 \
	MOVL (atB)(DI)(CX*1), R9 \
	VMOVQ X_, (nA*8)(SI)(R8*8) \
	VMOVHPS X_, (nB*8)(SI)(R9*8)

#define ORDERAT(f) (step_nodeAt+64*f)

// SUMS adds up what the contexts of lane l say, and keeps the nodes.
#define SUMS \
	READ2(ORDERAT(0), const_nodes2, ORDERAT(1), const_nodes3, X0) \
	READ2(ORDERAT(2), const_nodes4, ORDERAT(3), const_nodes6, X1) \
	READ2(ORDERAT(4), const_nodes8, ORDERAT(5), const_nodes10, X2) \
	READ2(step_match, const_nodesMatch, step_joint, const_nodesJoint, X3) \
	VINSERTI128 $1, X1, Y0, Y0 \
	VINSERTI128 $1, X3, Y2, Y2 \
	VMOVDQU Y0, step_read(DX) \
	VMOVDQU Y2, (step_read+32)(DX) \
	MOVL step_set(DI)(CX*1), R8 \
	SHLL $6, R8 \
	VPMULHRSW (BX)(R8*1), Y0, Y0 \
	VPMULHRSW 32(BX)(R8*1), Y2, Y2 \
	VPADDSW Y2, Y0, Y0 \
	VEXTRACTI128 $1, Y0, X1 \
	VPADDSW X1, X0, X0 \
	VPSHUFD $0xee, X0, X1 \
	VPADDSW X1, X0, X0 \
	VMOVQ X0, step_sums(R14) \
	MOVL step_strand(DI)(CX*1), R8 \
	SHRL $2, R8 \
	MOVL R8, R9 \
	VMOVQ (const_nodes10*8)(SI)(R8*8), X0 \
	ANDL $0xffff, R8 \
	ANDL $0xfff, R9 \
	VMOVQ (const_nodes8*8)(SI)(R8*8), X1 \
	VMOVQ (const_nodes6*8)(SI)(R9*8), X2 \
	VPADDSW X1, X2, X1 \
	VPADDSW X1, X0, X0 \
	VMOVQ X0, (step_sums+128)(R14)

// TRANSPOSE sets Y0, Y1 and Y2 to the first three words of all lanes.
#define TRANSPOSE(from) \
	VBROADCASTI128 consts<>+48(SB), Y6 \
	VMOVDQU (from)(DI), Y0 \
	VMOVDQU (from+32)(DI), Y1 \
	VMOVDQU (from+64)(DI), Y2 \
	VMOVDQU (from+96)(DI), Y3 \
	VPSHUFB Y6, Y0, Y0 \
	VPSHUFB Y6, Y1, Y1 \
	VPSHUFB Y6, Y2, Y2 \
	VPSHUFB Y6, Y3, Y3 \
	VPUNPCKLDQ Y1, Y0, Y4 \
	VPUNPCKLDQ Y3, Y2, Y5 \
	VPUNPCKHDQ Y1, Y0, Y6 \
	VPUNPCKHDQ Y3, Y2, Y3 \
	VPUNPCKLQDQ Y5, Y4, Y0 \
	VPUNPCKHQDQ Y5, Y4, Y1 \
	VPUNPCKLQDQ Y3, Y6, Y2

// LOGISTIC sets P to the probabilities of a 1 whose logits X are given, and uses Y3 to Y6.
#define LOGISTIC(X, P) \
	VPXOR Y6, Y6, Y6 \
	VPSUBSW X, Y6, Y3 \
	VPMAXSW X, Y3, Y3 \
	VPSRLW $11, Y3, Y4 \
	VPSLLW $8, Y4, Y5 \
	VPOR Y15, Y4, Y4 \
	VPOR Y14, Y5, Y5 \
	VPCMPEQW Y6, Y6, Y6 \
	VPXOR Y6, X, P \
	VPOR Y13, P, P \
	VPSLLW $5, Y3, Y3 \
	VPSHUFB Y4, Y8, Y6 \
	VPSHUFB Y4, Y10, Y4 \
	VPSHUFB Y5, Y7, X \
	VPSHUFB Y5, Y9, Y5 \
	VPOR Y5, Y4, Y4 \
	VPOR X, Y6, Y6 \
	VPMULHUW Y3, Y6, Y6 \
	VPSUBW Y6, Y4, Y4 \
	VPSIGNW P, Y4, P

// ERRORS sets E0, E1, E2 to the errors of probabilities P0 to P2, by masks: HI of lanes whose high bit is 1, ONE and THREE of those whose
// low bit is 1, if the high bit is 0 or 1. Y15 is 32767.
#define ERRORS(P0, P1, P2, HI, ONE, THREE, T) \
	VPSRLW $1, P0, P0 \
	VPSRLW $1, P1, P1 \
	VPSRLW $1, P2, P2 \
	VPAND Y15, HI, T \
	VPSUBW P0, T, P0 \
	VPAND Y15, ONE, T \
	VPSUBW P1, T, P1 \
	VPANDN P1, HI, P1 \
	VPAND Y15, THREE, T \
	VPSUBW P2, T, P2 \
	VPAND P2, HI, P2

// KEEP stores errors P0 to P3 lane by lane.
#define KEEP(P0, P1, P2, P3, A, B, C, to) \
	VPUNPCKLWD P1, P0, A \
	VPUNPCKHWD P1, P0, B \
	VPUNPCKLWD P3, P2, C \
	VPUNPCKHWD P3, P2, P3 \
	VPUNPCKLDQ C, A, P0 \
	VPUNPCKHDQ C, A, P1 \
	VPUNPCKLDQ P3, B, P2 \
	VPUNPCKHDQ P3, B, P3 \
	VMOVDQU P0, (to)(DI) \
	VMOVDQU P1, (to+32)(DI) \
	VMOVDQU P2, (to+64)(DI) \
	VMOVDQU P3, (to+96)(DI)

// LEARN has the nodes and weights of lane l learn.
#define LEARN \
	VPBROADCASTQ step_errors(R14), Y0 \
	MOVL step_set(DI)(CX*1), R10 \
	SHLL $6, R10 \
	VMOVDQU step_read(DX), Y1 \
	VMOVDQU (step_read+32)(DX), Y2 \
	VMOVDQU (BX)(R10*1), Y3 \
	VMOVDQU 32(BX)(R10*1), Y4 \
	VPBLENDW $0x88, Y1, Y3, Y5 \
	VPBLENDW $0x88, Y2, Y4, Y6 \
	VPMULHRSW Y0, Y5, Y5 \
	VPMULHRSW Y0, Y6, Y6 \
	VPSHUFB Y15, Y1, Y7 \
	VPSHUFB Y15, Y2, Y8 \
	VPMULHRSW Y7, Y5, Y5 \
	VPMULHRSW Y8, Y6, Y6 \
	VPADDSW Y1, Y5, Y5 \
	VPADDSW Y2, Y6, Y6 \
	VPMULHRSW Y0, Y1, Y1 \
	VPMULHRSW Y0, Y2, Y2 \
	VPMULHRSW Y14, Y1, Y1 \
	VPMULHRSW Y14, Y2, Y2 \
	VPADDSW Y3, Y1, Y1 \
	VPADDSW Y4, Y2, Y2 \
	VMOVDQU Y1, (BX)(R10*1) \
	VMOVDQU Y2, 32(BX)(R10*1) \
	VEXTRACTI128 $1, Y5, X7 \
	VEXTRACTI128 $1, Y6, X8 \
	WRITE2(ORDERAT(0), const_nodes2, ORDERAT(1), const_nodes3, X5) \
	WRITE2(ORDERAT(2), const_nodes4, ORDERAT(3), const_nodes6, X7) \
	WRITE2(ORDERAT(4), const_nodes8, ORDERAT(5), const_nodes10, X6) \
	WRITE2(step_match, const_nodesMatch, step_joint, const_nodesJoint, X8) \
	VPBROADCASTQ (step_errors+128)(R14), Y0 \
	MOVL step_strand(DI)(CX*1), R8 \
	SHRL $2, R8 \
	MOVL R8, R9 \
	MOVL R8, R10 \
	ANDL $0xffff, R9 \
	ANDL $0xfff, R10 \
	VMOVQ (const_nodes10*8)(SI)(R8*8), X1 \
	VPINSRQ $1, (const_nodes8*8)(SI)(R9*8), X1, X1 \
	VMOVQ (const_nodes6*8)(SI)(R10*8), X2 \
	VINSERTI128 $1, X2, Y1, Y1 \
	VPMULHRSW Y13, Y1, Y2 \
	VPADDW Y0, Y2, Y2 \
	VPSHUFB Y15, Y1, Y3 \
	VPMULHRSW Y3, Y2, Y2 \
	VPADDSW Y1, Y2, Y2 \
	VMOVQ X2, (const_nodes10*8)(SI)(R8*8) \
	VMOVHPS X2, (const_nodes8*8)(SI)(R9*8) \
	VEXTRACTI128 $1, Y2, X2 \
	VMOVQ X2, (const_nodes6*8)(SI)(R10*8)

// ADVANCE moves the states of eight lanes on. Y10 is the sizes of their intervals, Y11 the places in them. States that become too small
// read a word each; R9 is the tables.
#define ADVANCE(lane) \
	VMOVDQU (predictor_states+4*lane)(DI), Y8 \
	VPSRLD $14, Y8, Y6 \
	VPMULLD Y10, Y6, Y6 \
	VPADDD Y11, Y6, Y6 \
	VMOVDQU (step_active+4*lane)(DI), Y7 \
	VPBLENDVB Y7, Y6, Y8, Y6 \
	VPXOR Y7, Y7, Y7 \
	VPSRLD $16, Y6, Y8 \
	VPCMPEQD Y7, Y8, Y8 \
	VMOVMSKPS Y8, AX \
	VPMOVZXWD (R12)(R13*1), Y9 \
	VPMOVZXBD vectorTables_Order(R9)(AX*8), Y7 \
	VPERMD Y9, Y7, Y9 \
	VPSLLD $16, Y6, Y7 \
	VPOR Y9, Y7, Y7 \
	VPBLENDVB Y8, Y7, Y6, Y6 \
	VMOVDQU Y6, (predictor_states+4*lane)(DI) \
	POPCNTL AX, AX \
	LEAQ (R13)(AX*2), R13

// func stepVector(x *predictor, t *vectorTables, decoding bool)
TEXT ·stepVector(SB), NOSPLIT, $0-17
	MOVQ x+0(FP), DI
	MOVQ t+8(FP), R11
	MOVQ predictor_nodes(DI), SI
	MOVQ predictor_weights(DI), BX
	VMOVDQU (step_last)(DI), Y0
	VMOVDQU (step_last+32)(DI), Y1
	ORDER(0)
	ORDER(1)
	ORDER(2)
	ORDER(3)
	ORDER(4)
	ORDER(5)
	XORL CX, CX
	MOVQ DI, DX

sum:
	CMPL step_active(DI)(CX*1), $0
	JEQ summed
	LEAQ slots<>(SB), R14
	MOVBLZX (R14)(CX*1), R14
	ADDQ DI, R14
	SUMS

summed:
	ADDQ $64, DX
	ADDL $4, CX
	CMPL CX, $(4*const_numLanes)
	JNE sum

	VBROADCASTI128 consts<>+0(SB), Y15
	VBROADCASTI128 consts<>+16(SB), Y14
	VBROADCASTI128 consts<>+32(SB), Y13
	VBROADCASTI128 (vectorTables_Tails+0)(R11), Y10
	VBROADCASTI128 (vectorTables_Tails+16)(R11), Y9
	VBROADCASTI128 (vectorTables_Tails+32)(R11), Y8
	VBROADCASTI128 (vectorTables_Tails+48)(R11), Y7

	// The other strand
	TRANSPOSE(step_sums+128)
	VPSRAW $1, Y0, Y0
	VPSRAW $1, Y1, Y1
	VPSRAW $1, Y2, Y2
	LOGISTIC(Y0, Y11)
	LOGISTIC(Y1, Y12)
	LOGISTIC(Y2, Y0)
	VMOVDQA Y0, Y2
	VMOVDQU (step_strand)(DI), Y0
	VMOVDQU (step_strand+32)(DI), Y1
	VPSLLD $30, Y0, Y3
	VPSLLD $30, Y1, Y4
	VPSRAD $31, Y3, Y3
	VPSRAD $31, Y4, Y4
	VPACKSSDW Y4, Y3, Y3
	VPERMQ $0xd8, Y3, Y3 // the high bit is 1
	VPSLLD $31, Y0, Y0
	VPSLLD $31, Y1, Y1
	VPSRAD $31, Y0, Y0
	VPSRAD $31, Y1, Y1
	VPACKSSDW Y1, Y0, Y0
	VPERMQ $0xd8, Y0, Y0
	VBROADCASTI128 consts<>+80(SB), Y15
	ERRORS(Y11, Y12, Y2, Y3, Y0, Y0, Y4)
	VPSRAW $2, Y11, Y11
	VPSRAW $2, Y12, Y12
	VPSRAW $2, Y2, Y2
	VPXOR Y3, Y3, Y3
	KEEP(Y11, Y12, Y2, Y3, Y0, Y1, Y4, step_errors+128)

	VBROADCASTI128 consts<>+0(SB), Y15
	TRANSPOSE(step_sums)
	VPADDSW Y0, Y0, Y0
	VPADDSW Y1, Y1, Y1
	VPADDSW Y2, Y2, Y2
	LOGISTIC(Y0, Y11)
	LOGISTIC(Y1, Y12)
	LOGISTIC(Y2, Y0)
	// Y11, Y12, Y0: probabilities. Bounds:
	VPXOR Y3, Y3, Y3
	VPSUBW Y11, Y3, Y3
	VPMULHUW Y12, Y3, Y3
	VPADDW Y11, Y3, Y3    // above 0
	VPMULHUW Y0, Y11, Y5  // above 2
	VBROADCASTI128 consts<>+64(SB), Y6
	VPMULHUW Y6, Y3, Y3
	VPMULHUW Y6, Y11, Y4
	VPMULHUW Y6, Y5, Y5
	VPADDW Y13, Y5, Y5
	VPADDW Y13, Y13, Y6 // 2
	VPADDW Y6, Y4, Y4
	VPADDW Y13, Y6, Y1
	VPADDW Y1, Y3, Y3

	CMPB decoding+16(FP), $0
	JNE decoding
	VMOVDQU (step_bases)(DI), Y1
	VPXOR Y2, Y2, Y2
	VPCMPGTW Y2, Y1, Y7 // above 0
	VPCMPGTW Y13, Y1, Y8 // above 1
	VPCMPGTW Y6, Y1, Y9 // above 2
	JMP intervals

decoding:
	VMOVDQU predictor_states(DI), Y1
	VMOVDQU (predictor_states+32)(DI), Y2
	VPSLLD $18, Y1, Y1
	VPSLLD $18, Y2, Y2
	VPSRLD $18, Y1, Y1
	VPSRLD $18, Y2, Y2
	VPACKUSDW Y2, Y1, Y1
	VPERMQ $0xd8, Y1, Y1 // states modulo wholeShare
	VPCMPGTW Y1, Y3, Y7
	VPCMPGTW Y1, Y4, Y8
	VPCMPGTW Y1, Y5, Y9
	VPADDW Y7, Y8, Y6
	VPADDW Y9, Y6, Y6
	VPABSW Y6, Y6
	VMOVDQU Y6, step_bases(DI)

intervals:
	// Y3, Y4, Y5 bounds; Y7, Y8, Y9 masks; Y1 low halves
	VPSLLW $14, Y13, Y2 // ends: wholeShare
	VPBLENDVB Y7, Y3, Y2, Y2
	VPBLENDVB Y8, Y4, Y2, Y2
	VPBLENDVB Y9, Y5, Y2, Y2
	VPBLENDVB Y7, Y4, Y3, Y3 // starts
	VPBLENDVB Y8, Y5, Y3, Y3
	VPANDN Y3, Y9, Y3
	VPSUBW Y3, Y2, Y2 // sizes

	// Errors
	VBROADCASTI128 consts<>+80(SB), Y15
	VMOVDQA Y8, Y6
	ERRORS(Y11, Y12, Y0, Y6, Y7, Y9, Y4)
	VBROADCASTI128 consts<>+96(SB), Y4
	KEEP(Y11, Y12, Y0, Y4, Y5, Y6, Y7, step_errors)

	CMPB decoding+16(FP), $0
	JNE advance
	VPCMPEQW Y4, Y4, Y4
	VPADDW Y4, Y2, Y2
	VMOVDQU step_active(DI), Y5
	VPACKSSDW (step_active+32)(DI), Y5, Y5
	VPERMQ $0xd8, Y5, Y5
	VPAND Y5, Y3, Y3
	VPXOR Y4, Y5, Y4
	VPSRLW $2, Y4, Y4 // wholeShare - 1
	VPOR Y4, Y2, Y2
	VMOVDQU Y3, (step_intervals)(DI)
	VMOVDQU Y2, (step_intervals+32)(DI)
	JMP learn

advance:
	VPSUBW Y3, Y1, Y1 // places
	MOVQ predictor_words(DI), R12
	MOVQ predictor_at(DI), R13
	MOVQ R11, R9
	VPMOVZXWD X2, Y10
	VPMOVZXWD X1, Y11
	ADVANCE(0)
	VEXTRACTI128 $1, Y2, X2
	VEXTRACTI128 $1, Y1, X1
	VPMOVZXWD X2, Y10
	VPMOVZXWD X1, Y11
	ADVANCE(8)
	MOVQ R13, predictor_at(DI)

learn:
	VBROADCASTI128 consts<>+112(SB), Y15
	VBROADCASTI128 consts<>+128(SB), Y14
	VBROADCASTI128 consts<>+144(SB), Y13
	XORL CX, CX
	MOVQ DI, DX

next:
	CMPL step_active(DI)(CX*1), $0
	JEQ learnt
	LEAQ slots<>(SB), R14
	MOVBLZX (R14)(CX*1), R14
	ADDQ DI, R14
	LEARN

learnt:
	ADDQ $64, DX
	ADDL $4, CX
	CMPL CX, $(4*const_numLanes)
	JNE next

	VZEROUPPER
	RET

// func fetchVector(x *step, nodes unsafe.Pointer, slots *uint32, words *uint64)
TEXT ·fetchVector(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), DI
	MOVQ nodes+8(FP), SI
	MOVQ slots+16(FP), R8
	MOVQ words+24(FP), R10
	XORL CX, CX

lane:
	MOVL (step_matches+matches_slot)(DI)(CX*4), AX
	PREFETCHT0 (R8)(AX*4)
	MOVL (step_matches+matches_found)(DI)(CX*4), AX
	SHRL $6, AX
	PREFETCHT0 (R10)(AX*8)
	MOVL step_last(DI)(CX*4), AX
	SHLL $2, AX
	ANDL $0xfffff, AX
	PREFETCHT0 (SI)(AX*8)
	MOVL (step_matches+matches_reverse+4)(DI)(CX*8), AX
	SHRL $12, AX
	PREFETCHT0 (SI)(AX*8)
	INCL CX
	CMPL CX, $const_numLanes
	JNE lane
	RET
