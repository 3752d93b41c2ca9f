#include "textflag.h"

// Offsets in a round.
#define GOING 384
#define BOUND 640
#define STATE 1184
#define RANK 1248
#define EXIST 1312
#define ENTRIES 1328

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
GLOBL consts<>(SB), RODATA|NOPTR, $112

// ADDLINE adds the lines of feature f of two entries to X0 and X1.
#define ADDLINE(f) \
	MOVL (f*64)(DI), AX      \
	MOVL (f*64+4)(DI), BX    \
	VPADDSW (SI)(AX*1), X0, X0 \
	VPADDSW (SI)(BX*1), X1, X1

// func predictVector(slots *line, r *round, tables *[4][16]byte)
TEXT ·predictVector(SB), NOSPLIT, $0-24
	MOVQ slots+0(FP), SI
	MOVQ r+8(FP), DI
	MOVQ tables+16(FP), DX
	VBROADCASTI128 consts<>+0(SB), Y15
	VBROADCASTI128 consts<>+16(SB), Y14
	VBROADCASTI128 consts<>+32(SB), Y13
	VBROADCASTI128 consts<>+48(SB), Y12
	VBROADCASTI128 consts<>+64(SB), Y11
	VBROADCASTI128 0(DX), Y10 // low bytes of tailOf
	VBROADCASTI128 16(DX), Y9 // high bytes
	VBROADCASTI128 32(DX), Y8 // low bytes of the differences
	VBROADCASTI128 48(DX), Y7 // high bytes
	VBROADCASTI128 EXIST(DI), Y5
	MOVQ ENTRIES(DI), CX
	INCQ CX
	SHRQ $1, CX // pairs of entries
	LEAQ BOUND(DI), R8
	LEAQ GOING(DI), R9

pair:
	MOVL 0(DI), AX
	MOVL 4(DI), BX
	VMOVDQU (SI)(AX*1), X0
	VMOVDQU (SI)(BX*1), X1
	ADDLINE(1)
	ADDLINE(2)
	ADDLINE(3)
	ADDLINE(4)
	ADDLINE(5)
	VINSERTI128 $1, X1, Y0, Y0 // logits

	VPXOR Y6, Y6, Y6
	VPSUBSW Y0, Y6, Y1
	VPMAXSW Y0, Y1, Y1   // absolute values, at most 32767
	VPSRLW $11, Y1, Y2   // octaves
	VPSLLW $8, Y2, Y3
	VPOR Y15, Y2, Y2
	VPOR Y14, Y3, Y3
	VPSHUFB Y2, Y10, Y4
	VPSHUFB Y3, Y9, Y6
	VPOR Y6, Y4, Y4      // tails of the octaves
	VPSHUFB Y2, Y8, Y2
	VPSHUFB Y3, Y7, Y6
	VPOR Y6, Y2, Y2      // differences to the next ones
	VPSLLW $5, Y1, Y1    // part of the octave
	VPMULHUW Y1, Y2, Y2
	VPSUBW Y2, Y4, Y2
	VPOR Y13, Y0, Y0
	VPSIGNW Y0, Y2, Y2   // probability of going on: the tail, or 1 less it
	VMOVDQU Y2, (R9)

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
	VMOVDQU X2, 16(R8)
	VEXTRACTI128 $1, Y2, 48(R8)

	ADDQ $8, DI
	ADDQ $64, R8
	ADDQ $32, R9
	DECQ CX
	JNZ pair
	VZEROUPPER
	RET

// func decodeVector(r *round, words *byte) (n int)
TEXT ·decodeVector(SB), NOSPLIT, $0-24
	MOVQ r+0(FP), DI
	MOVQ words+8(FP), SI
	MOVQ ENTRIES(DI), R13
	LEAQ BOUND(DI), R8
	VPXOR X3, X3, X3

entry:
	MOVL STATE(DI), AX
	MOVWLZX AX, BX
	VMOVD BX, X0
	VPBROADCASTW X0, X0
	VMOVDQU 16(R8), X1
	VPSUBUSW X0, X1, X1  // 0 from the rank on
	VPCMPEQW X3, X1, X1
	VPMOVMSKB X1, CX
	ORL $0x10000, CX
	TZCNTL CX, CX        // 2 * rank
	MOVWLZX 14(R8)(CX*1), DX
	MOVWLZX 16(R8)(CX*1), R9
	SUBL R9, BX
	SUBL R9, DX
	MOVWLZX DX, DX       // size
	SHRL $16, AX
	IMULL DX, AX
	ADDL BX, AX
	MOVWLZX (SI), R10
	LEAQ 2(SI), R11
	MOVL AX, R12
	SHLL $16, R12
	ORL R10, R12
	CMPL AX, $0x10000
	CMOVLCS R12, AX
	CMOVQCS R11, SI
	MOVL AX, STATE(DI)
	SHRL $1, CX
	MOVL CX, RANK(DI)
	ADDQ $4, DI
	ADDQ $32, R8
	DECQ R13
	JNZ entry
	SUBQ words+8(FP), SI
	MOVQ SI, n+16(FP)
	RET

// MOVELINE moves the line of feature f of an entry by X0.
#define MOVELINE(f) \
	MOVL (f*64)(DI), AX      \
	VPADDSW (SI)(AX*1), X0, X1 \
	VMOVDQU X1, (SI)(AX*1)

// func learnVector(slots *line, r *round, rate, dither int32, masks *[2][9][8]uint16)
TEXT ·learnVector(SB), NOSPLIT, $0-32
	MOVQ slots+0(FP), SI
	MOVQ r+8(FP), DI
	MOVL rate+16(FP), AX
	VMOVD AX, X5
	VPBROADCASTW X5, X5
	MOVL dither+20(FP), AX
	VMOVD AX, X6
	VPBROADCASTW X6, X6
	MOVQ masks+24(FP), DX
	MOVQ ENTRIES(DI), CX
	LEAQ GOING(DI), R9

entry:
	MOVL RANK(DI), BX
	SHLL $4, BX
	VMOVDQU (R9), X0
	VPSRLW $1, X0, X0
	VPSUBW (DX)(BX*1), X0, X0
	VPAND 144(DX)(BX*1), X0, X0
	VPADDSW X6, X0, X0
	VPMULHW X5, X0, X0
	MOVELINE(0)
	MOVELINE(1)
	MOVELINE(2)
	MOVELINE(3)
	MOVELINE(4)
	MOVELINE(5)
	ADDQ $4, DI
	ADDQ $16, R9
	DECQ CX
	JNZ entry
	RET
