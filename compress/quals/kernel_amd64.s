#include "go_asm.h"
#include "textflag.h"
#include "contexts_amd64.h"

// stepsVector is codePlain. These registers have one use in all functions that it calls:
//
//	DI	the coder
//	SI	the slots
//	R8	where the lines of the step start, by feature and lane
//	R9	the same of the next step
//	R12	words that are decoded, or memory for decisions
//	R13	how many bytes of that were read or written
//	R14	16 * the step at which to stop
//	R15	16 * the step: its symbols are there in the batch
//	DX	4 * how many lanes have learnt in the step
//
// Vectors have all lanes, or eight of them. Lanes without a piece have an interval that is all, so that nothing is coded, and outcome -1,
// so that nothing is learnt.

// Constants of both halves of a register.
DATA consts<>+0(SB)/8, $0x8000800080008000 // high byte: none
DATA consts<>+8(SB)/8, $0x8000800080008000
DATA consts<>+16(SB)/8, $0x0080008000800080 // low byte: none
DATA consts<>+24(SB)/8, $0x0080008000800080
DATA consts<>+32(SB)/8, $0x0001000100010001 // 1
DATA consts<>+40(SB)/8, $0x0001000100010001
DATA consts<>+48(SB)/8, $0x0302030203020302 // product of ranks 0 and 1 to all, and that of 4 and 5
DATA consts<>+56(SB)/8, $0x0b0a0b0a0b0a0b0a
DATA consts<>+64(SB)/8, $0x0706070607060706 // product of ranks 0 to 3 to all
DATA consts<>+72(SB)/8, $0x0706070607060706
DATA consts<>+80(SB)/8, $0xfff8fff8fff8fff8 // 65528
DATA consts<>+88(SB)/8, $0xfff8fff8fff8fff8
DATA consts<>+96(SB)/8, $0x0005000600070008 // 8, 7, ... 1
DATA consts<>+104(SB)/8, $0x0001000200030004
DATA consts<>+112(SB)/8, $0x0003000200010000 // 0, 1, ... 7
DATA consts<>+120(SB)/8, $0x0007000600050004
DATA consts<>+128(SB)/8, $0x0100010001000100 // bytes of word 0
DATA consts<>+136(SB)/8, $0x0100010001000100
DATA consts<>+144(SB)/8, $0x0202020202020202 // to the next word
DATA consts<>+152(SB)/8, $0x0202020202020202
DATA consts<>+160(SB)/8, $0x0008000800080008 // 8
DATA consts<>+168(SB)/8, $0x0008000800080008
GLOBL consts<>(SB), RODATA|NOPTR, $176

// Where fields of rounds are in the coder.
#define GOING (coder_all+round_going) // of lanes l and l + 8 together
#define MOVES (coder_all+round_bound) // not bounds, but how lanes move their lines
#define AHEAD (coder_all+round__size+round_at)
#define OUTCOME (coder_all+round_rank)    // 16 bits each, as RANK; -1 without a piece
#define RANK (coder_all+round_rank+32)    // in the end; 0 without a piece
#define RANKOF (coder_all+round__size+round_exist) // the ranks of lanes, encoding
#define CHOSEN (coder_all+round__size+round_rank) // the lanes of a further round
#define GROUPOF (coder_all+round__size+round_going) // the groups of lanes
#define SOMEAT (coder_some+round_at)
#define SOMEGOING (coder_some+round_going)
#define SOMEBOUND (coder_some+round_bound)
#define SOMERANK (coder_some+round_rank)

// CONTEXTS sets the registers of contexts.
#define CONTEXTS \
	LEAQ coder_history(DI), R10 \
	MOVQ R9, R11 \
	LEAQ coder_classes(DI)(R15*2), BX

// func stepsVector(c *coder, step, end int) int
TEXT ·stepsVector(SB), NOSPLIT, $0-32
	MOVQ c+0(FP), DI
	MOVQ step+8(FP), R15
	MOVQ end+16(FP), R14
	SHLQ $4, R15
	SHLQ $4, R14
	MOVQ coder_model(DI), AX
	MOVQ model_slots(AX), SI
	LEAQ AHEAD(DI), R8
	LEAQ (coder_all+round_at)(DI), R9
	CMPB coder_decoding(DI), $0
	JNE decoding
	MOVQ coder_decisions(DI), R12
	MOVQ (coder_decisions+8)(DI), R13
	SHLQ $1, R13
	JMP begin

decoding:
	MOVQ coder_words(DI), R12
	MOVQ coder_read(DI), R13

begin:
	CONTEXTS
	CALL contexts<>(SB)
	CALL contexts<>(SB)

step:
	CMPB coder_decoding(DI), $0
	JEQ enough
	MOVQ (coder_words+8)(DI), AX
	SUBQ $const_wordsAhead, AX
	CMPQ R13, AX
	JGT done

enough:
	XCHGQ R8, R9
	MOVQ coder_model(DI), AX
	INCL model_steps(AX)
	CALL predict<>(SB)
	CMPB coder_decoding(DI), $0
	JNE decode
	CALL encode<>(SB)
	JMP next

decode:
	CALL decode<>(SB)

next:
	// A line may be moved by one lane after the other, which takes long. Meanwhile the processor computes the next contexts.
	LEAQ coder_history(DI), R10
	LEAQ coder_symbols(DI)(R15*1), R11
	ADDQ $16, R15
	CALL append<>(SB)
	CALL learn<>(SB)
	CALL append<>(SB)
	CALL learn<>(SB)
	CMPQ R15, R14
	JEQ last
	CONTEXTS
	CALL contexts<>(SB)
	CALL learn<>(SB)
	CALL contexts<>(SB)

last:
	CALL learn<>(SB)
	CMPL DX, $(4*const_numLanes)
	JNE last
	CMPQ R15, R14
	JNE step

done:
	CMPB coder_decoding(DI), $0
	JNE decoded
	SHRQ $1, R13
	MOVQ R13, (coder_decisions+8)(DI)
	JMP return

decoded:
	MOVQ R13, coder_read(DI)

return:
	SHRQ $4, R15
	MOVQ R15, ret+24(FP)
	VZEROUPPER
	RET

// GOONCONSTS sets the constants of GOON.
#define GOONCONSTS \
	VBROADCASTI128 consts<>+0(SB), Y15 \
	VBROADCASTI128 consts<>+16(SB), Y14 \
	VBROADCASTI128 consts<>+32(SB), Y13 \
	MOVQ ·tables(SB), AX \
	VBROADCASTI128 (vectorTables_Tails+0)(AX), Y10 \ // low bytes of tailOf
	VBROADCASTI128 (vectorTables_Tails+16)(AX), Y9 \ // high bytes
	VBROADCASTI128 (vectorTables_Tails+32)(AX), Y8 \ // low bytes of the differences
	VBROADCASTI128 (vectorTables_Tails+48)(AX), Y7 // high bytes

// ADDLINE adds the lines of feature f of two entries to X0 and X1. Where they start is at R10, and so many bytes apart.
#define ADDLINE(f, apart) \
	MOVL (f*64)(R10), AX \
	MOVL (f*64+apart)(R10), BX \
	VPADDSW (SI)(AX*1), X0, X0 \
	VPADDSW (SI)(BX*1), X1, X1

// FIRSTLINE is ADDLINE of the first feature.
#define FIRSTLINE(f, apart) \
	MOVL (f*64)(R10), AX \
	MOVL (f*64+apart)(R10), BX \
	VMOVDQU (SI)(AX*1), X0 \
	VMOVDQU (SI)(BX*1), X1

// GOON sets Y2 to the probabilities of going on of two entries, whose lines are added: see ADDLINE.
#define GOON \
	VINSERTI128 $1, X1, Y0, Y0 \ // logits
	VPXOR Y6, Y6, Y6 \
	VPSUBSW Y0, Y6, Y1 \
	VPMAXSW Y0, Y1, Y1 \ // absolute values, at most 32767
	VPSRLW $11, Y1, Y2 \ // octaves
	VPSLLW $8, Y2, Y3 \
	VPOR Y15, Y2, Y2 \
	VPOR Y14, Y3, Y3 \
	VPSHUFB Y2, Y10, Y4 \
	VPSHUFB Y3, Y9, Y6 \
	VPOR Y6, Y4, Y4 \ // tails of the octaves
	VPSHUFB Y2, Y8, Y2 \
	VPSHUFB Y3, Y7, Y6 \
	VPOR Y6, Y2, Y2 \ // differences to the next ones
	VPSLLW $5, Y1, Y1 \ // part of the octave
	VPMULHUW Y1, Y2, Y2 \
	VPSUBW Y2, Y4, Y2 \
	VPOR Y13, Y0, Y0 \
	VPSIGNW Y0, Y2, Y2 // the tail, or 1 less it

// BOUND makes a product of probabilities the bound of outcome k, less 1 << 15: so bounds are compared as numbers with a sign.
#define BOUND(k, y) \
	VPMULHUW (coder_scale+32*k)(DI), y, y \
	VPADDW (coder_addend+32*k)(DI), y, y

// predict finds what the model predicts: GOING, and in Y8 to Y15 the bounds of outcomes 0 to 7 of all lanes.
TEXT predict<>(SB), NOSPLIT, $0-0
	GOONCONSTS
	MOVQ R8, R10
	LEAQ GOING(DI), R11
	MOVL $8, CX

pair:
	FIRSTLINE(0, 32)
	ADDLINE(1, 32)
	ADDLINE(2, 32)
	ADDLINE(3, 32)
	ADDLINE(4, 32)
	GOON
	VMOVDQU Y2, (R11)
	ADDQ $4, R10
	ADDQ $32, R11
	DECL CX
	JNZ pair

	// From registers by lane to registers by outcome.
	VMOVDQU (GOING+0)(DI), Y0
	VMOVDQU (GOING+64)(DI), Y2
	VMOVDQU (GOING+128)(DI), Y4
	VMOVDQU (GOING+192)(DI), Y6
	VPUNPCKLWD (GOING+32)(DI), Y0, Y8
	VPUNPCKHWD (GOING+32)(DI), Y0, Y9
	VPUNPCKLWD (GOING+96)(DI), Y2, Y10
	VPUNPCKHWD (GOING+96)(DI), Y2, Y11
	VPUNPCKLWD (GOING+160)(DI), Y4, Y12
	VPUNPCKHWD (GOING+160)(DI), Y4, Y13
	VPUNPCKLWD (GOING+224)(DI), Y6, Y14
	VPUNPCKHWD (GOING+224)(DI), Y6, Y15
	VPUNPCKLDQ Y10, Y8, Y0
	VPUNPCKHDQ Y10, Y8, Y1
	VPUNPCKLDQ Y11, Y9, Y2
	VPUNPCKHDQ Y11, Y9, Y3
	VPUNPCKLDQ Y14, Y12, Y4
	VPUNPCKHDQ Y14, Y12, Y5
	VPUNPCKLDQ Y15, Y13, Y6
	VPUNPCKHDQ Y15, Y13, Y7
	VPUNPCKLQDQ Y4, Y0, Y8
	VPUNPCKHQDQ Y4, Y0, Y9
	VPUNPCKLQDQ Y5, Y1, Y10
	VPUNPCKHQDQ Y5, Y1, Y11
	VPUNPCKLQDQ Y6, Y2, Y12
	VPUNPCKHQDQ Y6, Y2, Y13
	VPUNPCKLQDQ Y7, Y3, Y14
	VPUNPCKHQDQ Y7, Y3, Y15

	// Products of neighbours, of pairs, of fours.
	VPMULHUW Y8, Y9, Y9
	VPMULHUW Y10, Y11, Y11
	VPMULHUW Y12, Y13, Y13
	VPMULHUW Y14, Y15, Y15
	VPMULHUW Y9, Y10, Y10
	VPMULHUW Y9, Y11, Y11
	VPMULHUW Y13, Y14, Y14
	VPMULHUW Y13, Y15, Y15
	VPMULHUW Y11, Y12, Y12
	VPMULHUW Y11, Y13, Y13
	VPMULHUW Y11, Y14, Y14
	VPMULHUW Y11, Y15, Y15
	BOUND(0, Y8)
	BOUND(1, Y9)
	BOUND(2, Y10)
	BOUND(3, Y11)
	BOUND(4, Y12)
	BOUND(5, Y13)
	BOUND(6, Y14)
	BOUND(7, Y15)
	RET

// COMPARE compares what is decoded, Y0, with a bound, y. Y4 counts the bounds above it. Y1 and Y3 are the least and the greatest of what is
// decoded less a bound, modulo 65536: these bounds are the next one that is not above it, and the next one that is.
#define COMPARE(y) \
	VPCMPGTW Y0, y, Y5 \
	VPSUBW Y5, Y4, Y4 \
	VPSUBW y, Y0, Y6 \
	VPMINUW Y6, Y1, Y1 \
	VPMAXUW Y6, Y3, Y3

// ADVANCE moves the states of eight lanes on. Y0 is the sizes of their intervals, Y2 the places in them. States that become too small read
// a word each; BX is the tables, Y7 is 0.
#define ADVANCE(lane) \
	VPMOVSXWD (coder_active+2*lane)(DI), Y10 \
	VMOVDQU (coder_states+4*lane)(DI), Y6 \
	VPSRLD $16, Y6, Y8 \
	VPMULLD Y0, Y8, Y8 \
	VPADDD Y2, Y8, Y8 \
	VPBLENDVB Y10, Y8, Y6, Y6 \
	VPSRLD $16, Y6, Y8 \
	VPCMPEQD Y7, Y8, Y8 \
	VMOVMSKPS Y8, AX \
	VPMOVZXWD (R12)(R13*1), Y9 \
	VPMOVZXBD vectorTables_Order(BX)(AX*8), Y10 \
	VPERMD Y9, Y10, Y9 \
	VPSLLD $16, Y6, Y10 \
	VPOR Y9, Y10, Y10 \
	VPBLENDVB Y8, Y10, Y6, Y6 \
	VMOVDQU Y6, (coder_states+4*lane)(DI) \
	POPCNTL AX, AX \
	LEAQ (R13)(AX*2), R13

// LANESAT8 sets CX to a mask of the lanes whose outcome, in Y4, is 8.
#define LANESAT8 \
	VBROADCASTI128 consts<>+160(SB), Y5 \
	VPCMPEQW Y5, Y4, Y5 \
	VEXTRACTI128 $1, Y5, X6 \
	VPACKSSWB X6, X5, X5 \
	VPMOVMSKB X5, CX

// LOOKUP replaces the symbols or ranks Y2, Y3 of lanes, of 32 bits, by what the table at AX has for them after the last symbol, and
// packs that into 16 bits in Y2, and 8 in X3.
#define LOOKUP \
	VMOVDQU (coder_history+histories_last)(DI), Y0 \
	VMOVDQU (coder_history+histories_last+32)(DI), Y1 \
	VPSLLD $8, Y0, Y0 \
	VPSLLD $8, Y1, Y1 \
	VPADDD Y2, Y0, Y0 \
	VPADDD Y3, Y1, Y1 \
	VPCMPEQD Y4, Y4, Y4 \
	VMOVDQA Y4, Y5 \
	VPSRLD $24, Y4, Y6 \
	VPGATHERDD Y4, (AX)(Y0*1), Y2 \
	VPGATHERDD Y5, (AX)(Y1*1), Y3 \
	VPAND Y6, Y2, Y2 \
	VPAND Y6, Y3, Y3 \
	VPACKUSDW Y3, Y2, Y2 \
	VPERMQ $0xd8, Y2, Y2 \
	VEXTRACTI128 $1, Y2, X3 \
	VPACKUSWB X3, X2, X3

// decode finds the symbols of a step.
TEXT decode<>(SB), NOSPLIT, $0-0
	VPXOR Y7, Y7, Y7
	VMOVDQU coder_states(DI), Y2
	VMOVDQU (coder_states+32)(DI), Y3
	VPBLENDW $0xaa, Y7, Y2, Y2
	VPBLENDW $0xaa, Y7, Y3, Y3
	VPACKUSDW Y3, Y2, Y1
	VPERMQ $0xd8, Y1, Y1   // the low halves of the states
	VPCMPEQW Y7, Y7, Y0
	VPSLLW $15, Y0, Y0
	VPXOR Y1, Y0, Y0       // less 1 << 15, as bounds
	VMOVDQA Y1, Y3
	VPXOR Y4, Y4, Y4
	COMPARE(Y8)
	COMPARE(Y9)
	COMPARE(Y10)
	COMPARE(Y11)
	COMPARE(Y12)
	COMPARE(Y13)
	COMPARE(Y14)
	COMPARE(Y15)
	VPSUBW Y3, Y1, Y3      // sizes of the intervals
	VMOVDQU coder_active(DI), Y5
	VPAND Y5, Y4, Y6
	VMOVDQU Y6, RANK(DI) // 0 without a piece
	VPCMPEQW Y6, Y6, Y6
	VPXOR Y6, Y5, Y5
	VPOR Y5, Y4, Y4
	VMOVDQU Y4, OUTCOME(DI)

	VPMOVZXWD X3, Y0
	VPMOVZXWD X1, Y2
	MOVQ ·tables(SB), BX
	ADVANCE(0)
	VEXTRACTI128 $1, Y3, X0
	VEXTRACTI128 $1, Y1, X2
	VPMOVZXWD X0, Y0
	VPMOVZXWD X2, Y2
	ADVANCE(8)

	CALL later<>(SB)

	// Symbols by the last symbol and the rank.
	MOVQ coder_model(DI), AX
	MOVQ model_ranks(AX), AX
	MOVQ ranks_byRank(AX), AX
	VPMOVZXWD RANK(DI), Y2
	VPMOVZXWD (RANK+16)(DI), Y3
	LOOKUP
	VMOVDQU X3, coder_symbols(DI)(R15*1)
	RET

// FIND finds the intervals of outcomes, Y0: y is bound k, Y6 is k, Y4 says which outcomes are above it. Y1 is the greatest bound from the
// outcome on, where the interval starts, and Y3 that from the outcome before on, where it ends. Y2 is the least number, Y7 is -1.
#define FIND(y) \
	VPBLENDVB Y4, Y2, y, Y5 \
	VPMAXSW Y5, Y1, Y1 \
	VPSUBW Y7, Y6, Y6 \
	VPCMPGTW Y6, Y0, Y4 \
	VPBLENDVB Y4, Y2, y, Y5 \
	VPMAXSW Y5, Y3, Y3

// encode appends the decisions of a step.
TEXT encode<>(SB), NOSPLIT, $0-0
	MOVQ coder_model(DI), AX
	MOVQ model_ranks(AX), AX
	MOVQ ranks_rank(AX), AX
	VPMOVZXBD coder_symbols(DI)(R15*1), Y2
	VPMOVZXBD (coder_symbols+8)(DI)(R15*1), Y3
	LOOKUP
	VMOVDQU X3, RANKOF(DI)
	VBROADCASTI128 consts<>+160(SB), Y5
	VPMINSW Y5, Y2, Y0
	VPCMPEQW Y7, Y7, Y7
	VPSLLW $15, Y7, Y2
	VMOVDQA Y2, Y1
	VMOVDQA Y2, Y3
	VPXOR Y6, Y6, Y6
	VPCMPGTW Y6, Y0, Y4
	FIND(Y8)
	FIND(Y9)
	FIND(Y10)
	FIND(Y11)
	FIND(Y12)
	FIND(Y13)
	FIND(Y14)
	FIND(Y15)
	VPXOR Y6, Y6, Y6
	VPCMPGTW Y6, Y0, Y4
	VPBLENDVB Y4, Y3, Y2, Y3 // the interval of outcome 0 ends at 65536
	VPSUBW Y1, Y3, Y3
	VPADDW Y7, Y3, Y3      // size less 1
	VPXOR Y2, Y1, Y1
	VMOVDQU coder_active(DI), Y5
	VPXOR Y7, Y5, Y6
	VPAND Y5, Y1, Y1
	VPOR Y6, Y3, Y3
	VPOR Y6, Y0, Y4
	VMOVDQU Y4, OUTCOME(DI)
	VMOVDQU Y1, (R12)(R13*1)
	VMOVDQU Y3, 32(R12)(R13*1)
	ADDQ $64, R13
	CALL later<>(SB)
	RET

// MOVELINE moves a line of an entry, 4 * which is in a register, by X0: where the line starts is `at` bytes after base.
#define MOVELINE(at, base, entry) \
	MOVL at(base)(entry*1), AX \
	VPADDSW (SI)(AX*1), X0, X1 \
	VMOVDQU X1, (SI)(AX*1)

// MOVELINES moves the lines of an entry by X0, and goes to the next entry.
#define MOVELINES(at, base, entry) \
	MOVELINE(at+0, base, entry) \
	MOVELINE(at+64, base, entry) \
	MOVELINE(at+128, base, entry) \
	MOVELINE(at+192, base, entry) \
	MOVELINE(at+256, base, entry) \
	ADDL $4, entry

// RATE sets Y5 to the rate of learning and Y6 to the dither.
#define RATE \
	MOVQ coder_model(DI), AX \
	VPBROADCASTW model_rate(AX), Y5 \
	IMUL3L $40503, model_steps(AX), BX \
	MOVWLZX BX, BX \
	IMULL model_span(AX), BX \
	SHRL $16, BX \
	VMOVD BX, X6 \
	VPBROADCASTW X6, Y6

// ORDINALS sets Y8 to 0, 1, ... 7 in both halves, and Y9 to numbers 1 less.
#define ORDINALS \
	VBROADCASTI128 consts<>+112(SB), Y8 \
	VPCMPEQW Y9, Y9, Y9 \
	VPADDW Y9, Y8, Y9

// MOVEMENT sets Y0, the probabilities of going on of two entries with outcomes Y1, to how their lines move: see RATE and ORDINALS.
#define MOVEMENT \
	VPSRLW $1, Y0, Y0 \
	VPCMPGTW Y8, Y1, Y2 \ // outcomes before
	VPSRLW $1, Y2, Y2 \
	VPCMPGTW Y9, Y1, Y4 \ // those and the outcome itself
	VPSUBW Y2, Y0, Y0 \
	VPAND Y4, Y0, Y0 \
	VPADDSW Y6, Y0, Y0 \
	VPMULHW Y5, Y0, Y0

// MOVE sets how lanes l and l + 8 move their lines.
#define MOVE(l) \
	VPSHUFB Y10, Y7, Y1 \ // their outcomes
	VPADDB Y11, Y10, Y10 \
	VMOVDQU (GOING+32*l)(DI), Y0 \
	MOVEMENT \
	VMOVDQU X0, (MOVES+16*l)(DI) \
	VEXTRACTI128 $1, Y0, (MOVES+16*(l+8))(DI)

// moves sets how lanes move their lines, and DX to 0.
TEXT moves<>(SB), NOSPLIT, $0-0
	RATE
	VMOVDQU OUTCOME(DI), Y7
	ORDINALS
	VBROADCASTI128 consts<>+128(SB), Y10
	VBROADCASTI128 consts<>+144(SB), Y11
	MOVE(0)
	MOVE(1)
	MOVE(2)
	MOVE(3)
	MOVE(4)
	MOVE(5)
	MOVE(6)
	MOVE(7)
	XORL DX, DX
	RET

// learn moves the lines of the next four lanes, from lane DX / 4 on, if some are left.
TEXT learn<>(SB), NOSPLIT, $0-0
	CMPL DX, $(4*const_numLanes)
	JEQ moved
	VMOVDQU MOVES(DI)(DX*4), X0
	MOVELINES(0, R8, DX)
	VMOVDQU MOVES(DI)(DX*4), X0
	MOVELINES(0, R8, DX)
	VMOVDQU MOVES(DI)(DX*4), X0
	MOVELINES(0, R8, DX)
	VMOVDQU MOVES(DI)(DX*4), X0
	MOVELINES(0, R8, DX)

moved:
	RET

// NEXTLANE takes a lane, BX, from the mask R11, and sets CX to its rank, if that is known.
#define NEXTLANE \
	TZCNTL R11, BX \
	BLSRL R11, R11 \
	MOVBLZX RANKOF(DI)(BX*1), CX

// later sets how lanes move their lines, and codes further rounds if there are any. Y4 is the outcomes.
TEXT later<>(SB), NOSPLIT, $0-0
	XORL CX, CX
	CMPL coder_top(DI), $const_lineSlots
	JLE all
	LANESAT8

all:
	CALL moves<>(SB)
	TESTL CX, CX
	JEQ none
	CALL further<>(SB)

none:
	RET

// SOMELINE sets where the line of feature f of entry R10, which is lane BX, starts in a further region: a quarter of where that in region 0
// does, and DX. It loads the line into the cache.
#define SOMELINE(f) \
	MOVL (f*64)(R8)(BX*4), AX \
	SHRL $2, AX \
	ANDL $-16, AX \
	ADDL DX, AX \
	MOVL AX, (SOMEAT+f*64)(DI)(R10*4) \
	PREFETCHT0 (SI)(AX*1)

// SOMELANE adds lane BX to the entries of a round in region 1 + DX, with digit CX, of at most 8.
#define SOMELANE \
	IMULL coder_regionSize(DI), DX \
	ADDL coder_regionStart(DI), DX \
	SOMELINE(1) \
	SOMELINE(2) \
	SOMELINE(3) \
	SOMELINE(4) \
	MOVL BX, CHOSEN(DI)(R10*4) \
	MOVL CX, SOMERANK(DI)(R10*4) \
	INCL R10

// further codes the ranks of the lanes in CX, a mask, as coder.further.
TEXT further<>(SB), NOSPLIT, $40-0
	MOVQ R9, next-8(SP)
	MOVQ R14, end-16(SP)
	MOVL CX, all-20(SP)
	MOVL CX, rest-24(SP)
	MOVL DX, moved-36(SP)
	MOVL $0, before-28(SP) // groups before those of the round
	MOVL $0, rounds-32(SP)
	MOVL coder_groupTotal(DI), AX
	CMPL AX, $2
	JLT groupsFound

groupRound:
	MOVL rest-24(SP), R11
	XORL R10, R10
	MOVL $const_lineSlots, R9

listGroups:
	NEXTLANE
	SHRL $3, CX
	DECL CX
	SUBL before-28(SP), CX
	CMPL CX, R9
	CMOVLGT R9, CX
	MOVL rounds-32(SP), DX
	SOMELANE
	TESTL R11, R11
	JNE listGroups
	MOVL moved-36(SP), DX
	CALL learn<>(SB) // while lines are loaded
	MOVL DX, moved-36(SP)
	MOVL coder_groupTotal(DI), DX // outcomes that exist, but for the last one
	SUBL before-28(SP), DX
	DECL DX
	CALL some<>(SB)
	MOVL rest-24(SP), R14
	MOVL before-28(SP), R9

groups:
	DECL R10
	MOVL CHOSEN(DI)(R10*4), BX
	MOVL SOMERANK(DI)(R10*4), AX
	LEAL (R9)(AX*1), CX
	MOVL CX, GROUPOF(DI)(BX*4)
	CMPL AX, $const_lineSlots
	JEQ laterGroup
	BTRL BX, R14

laterGroup:
	TESTL R10, R10
	JNE groups
	MOVL R14, rest-24(SP)
	INCL rounds-32(SP)
	ADDL $const_lineSlots, R9
	MOVL R9, before-28(SP)
	ADDL $2, R9
	CMPL R9, coder_groupTotal(DI)
	JGT groupsFound
	TESTL R14, R14
	JNE groupRound

groupsFound:
	MOVL all-20(SP), R11
	XORL R10, R10

listRanks:
	NEXTLANE
	ANDL $7, CX
	MOVL GROUPOF(DI)(BX*4), DX
	ADDL coder_groupLoops(DI), DX
	SOMELANE
	TESTL R11, R11
	JNE listRanks
	MOVL moved-36(SP), DX
	CALL learn<>(SB)
	MOVL DX, moved-36(SP)
	MOVL $7, DX
	CALL some<>(SB)

rank:
	DECL R10
	MOVL CHOSEN(DI)(R10*4), BX
	MOVL GROUPOF(DI)(BX*4), AX
	MOVL SOMERANK(DI)(R10*4), CX
	LEAL 8(CX)(AX*8), AX
	MOVW AX, RANK(DI)(BX*2)
	CMPL coder_top(DI), AX
	JGE valid
	MOVB $1, coder_overrun(DI)

valid:
	TESTL R10, R10
	JNE rank
	MOVL moved-36(SP), DX
	MOVQ next-8(SP), R9
	MOVQ end-16(SP), R14
	RET

// some codes a round of R10 entries, the lanes in CHOSEN; outcomes after DX do not exist. It changes DX, R9 and R14.
TEXT some<>(SB), NOSPLIT, $0-0
	GOONCONSTS
	VBROADCASTI128 consts<>+48(SB), Y12
	VBROADCASTI128 consts<>+64(SB), Y11
	VBROADCASTI128 consts<>+112(SB), Y0
	VMOVD DX, X5
	VPBROADCASTW X5, Y5
	VPCMPGTW Y0, Y5, Y5
	MOVL R10, R14
	LEAQ SOMEAT(DI), R10
	LEAQ SOMEGOING(DI), R11
	LEAQ SOMEBOUND(DI), R9
	MOVL R14, CX

pair:
	FIRSTLINE(1, 4)
	ADDLINE(2, 4)
	ADDLINE(3, 4)
	ADDLINE(4, 4)
	GOON
	VMOVDQU Y2, (R11)
	// Products of neighbours, of pairs, of fours.
	VPSLLD $16, Y2, Y3
	VPMULHUW Y2, Y3, Y3
	VPBLENDW $0xaa, Y3, Y2, Y2
	VPSHUFB Y12, Y2, Y3
	VPMULHUW Y2, Y3, Y3
	VPBLENDW $0xcc, Y3, Y2, Y2
	VPSHUFB Y11, Y2, Y3
	VPMULHUW Y2, Y3, Y3
	VPBLENDW $0xf0, Y3, Y2, Y2
	VBROADCASTI128 consts<>+80(SB), Y3
	VPMULHUW Y3, Y2, Y2
	VBROADCASTI128 consts<>+96(SB), Y3
	VPADDW Y3, Y2, Y2
	VPAND Y5, Y2, Y2
	VMOVDQU X2, 16(R9)
	VEXTRACTI128 $1, Y2, 48(R9)
	ADDQ $8, R10
	ADDQ $32, R11
	ADDQ $64, R9
	SUBL $2, CX
	JGT pair

	LEAL (R14*4), R10
	XORL R11, R11 // 4 * the entry
	RATE
	ORDINALS
	VPXOR X3, X3, X3
	CMPB coder_decoding(DI), $0
	JNE entry
	// Intervals are all but for these lanes.
	VPCMPEQW Y1, Y1, Y1
	VMOVDQU Y3, (R12)(R13*1)
	VMOVDQU Y1, 32(R12)(R13*1)
	ADDQ $64, R13

entry:
	MOVL CHOSEN(DI)(R11*1), BX
	LEAQ SOMEBOUND(DI)(R11*8), DX
	CMPB coder_decoding(DI), $0
	JEQ encode
	MOVL coder_states(DI)(BX*4), AX
	MOVWLZX AX, R9
	VMOVD R9, X0
	VPBROADCASTW X0, X0
	VMOVDQU 16(DX), X1
	VPSUBUSW X0, X1, X1    // 0 from the rank on
	VPCMPEQW X3, X1, X1
	VPMOVMSKB X1, CX
	ORL $0x10000, CX
	TZCNTL CX, CX          // 2 * rank
	MOVWLZX 16(DX)(CX*1), R14
	SUBL R14, R9
	NEGL R14
	ADDW 14(DX)(CX*1), R14
	MOVWLZX R14, R14       // size
	SHRL $16, AX
	IMULL R14, AX
	ADDL R9, AX
	MOVWLZX (R12)(R13*1), R9
	MOVL AX, R14
	SHLL $16, R14
	ORL R9, R14
	LEAQ 2(R13), R9
	CMPL AX, $(1<<16)
	CMOVLCS R14, AX
	CMOVQCS R9, R13
	MOVL AX, coder_states(DI)(BX*4)
	SHRL $1, CX
	MOVL CX, SOMERANK(DI)(R11*1)
	JMP move

encode:
	MOVL SOMERANK(DI)(R11*1), CX
	MOVWLZX 16(DX)(CX*2), R14
	MOVWLZX 14(DX)(CX*2), AX
	SUBL R14, AX
	DECL AX
	LEAQ -64(R12)(R13*1), R9
	MOVW R14, (R9)(BX*2)
	MOVW AX, 32(R9)(BX*2)

move:
	VMOVD CX, X1
	VPBROADCASTW X1, Y1
	VMOVDQU SOMEGOING(DI)(R11*4), X0
	MOVEMENT
	MOVELINE(SOMEAT+64, DI, R11)
	MOVELINE(SOMEAT+128, DI, R11)
	MOVELINE(SOMEAT+192, DI, R11)
	MOVELINE(SOMEAT+256, DI, R11)
	ADDL $4, R11
	CMPL R11, R10
	JLT entry
	SHRL $2, R10
	RET
