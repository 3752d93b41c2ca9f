// The histories of lanes and their contexts: for kernel_amd64.s.

DATA numbers<>+0(SB)/4, $0x9E3779B1
DATA numbers<>+4(SB)/4, $0x85EBCA77
DATA numbers<>+8(SB)/4, $511
DATA numbers<>+12(SB)/4, $15
DATA numbers<>+16(SB)/4, $31
DATA numbers<>+20(SB)/4, $1
DATA numbers<>+24(SB)/4, $254
DATA numbers<>+28(SB)/4, $63
GLOBL numbers<>(SB), RODATA|NOPTR, $32

// append appends the symbols of the next eight lanes, at R11, to the histories at R10.
TEXT append<>(SB), NOSPLIT, $0-0
	VPBROADCASTD coder_top(DI), Y15
	VPXOR Y14, Y14, Y14
	VPMOVZXBD (R11), Y0      // symbols
	VMOVDQU histories_last(R10), Y1
	VPCMPEQD Y0, Y1, Y2      // whether the run continues
	VMOVDQU histories_run(R10), Y3
	VPSUBD Y2, Y3, Y3
	VPAND Y2, Y3, Y3
	VMOVDQU Y3, histories_run(R10)
	VMOVDQU histories_before(R10), Y3
	VPBLENDVB Y2, Y3, Y1, Y3
	VMOVDQU Y3, histories_before(R10)
	VMOVDQU histories_place(R10), Y4
	VPSUBD Y1, Y0, Y3
	VPABSD Y3, Y3
	VPCMPGTD Y14, Y4, Y5     // not the first symbol
	VPAND Y5, Y3, Y3
	VPADDD histories_delta(R10), Y3, Y3
	VMOVDQU Y3, histories_delta(R10)
	VPCMPEQD Y14, Y14, Y5
	VPSUBD Y5, Y4, Y4
	VMOVDQU Y4, histories_place(R10)
	VPXOR Y14, Y14, Y14
	VPSLLD $8, Y0, Y3
	VMOVDQU histories_slow(R10), Y4
	VPSUBD Y4, Y3, Y5
	VPSRAD $4, Y5, Y5
	VPADDD Y4, Y5, Y4
	VMOVDQU Y4, histories_slow(R10)
	VPCMPEQD Y15, Y0, Y3
	VMOVDQU histories_tops(R10), Y4
	VPSUBD Y3, Y4, Y4
	VMOVDQU Y4, histories_tops(R10)
	VPSRLD $31, Y3, Y3
	VPSLLD $12, Y3, Y3
	VMOVDQU histories_share(R10), Y4
	VPSUBD Y4, Y3, Y5
	VPSRAD $5, Y5, Y5
	VPADDD Y4, Y5, Y4
	VMOVDQU Y4, histories_share(R10)
	VMOVDQU histories_third(R10), Y3
	VMOVDQU Y3, histories_fourth(R10)
	VMOVDQU histories_second(R10), Y3
	VMOVDQU Y3, histories_third(R10)
	VMOVDQU Y1, histories_second(R10)
	VMOVDQU Y0, histories_last(R10)
	ADDQ $8, R11
	ADDQ $32, R10
	RET

// LINE sets the place of the line of feature f to that of the context Y0 and the last symbol.
#define LINE(f) \
	VPOR Y15, Y0, Y0 \
	VPMULLD Y14, Y0, Y0 \
	VPSRLD $15, Y0, Y1 \
	VPXOR Y1, Y0, Y0 \
	VPMULLD Y13, Y0, Y0 \
	VPSRLD X12, Y0, Y0 \
	VPSLLD $4, Y0, Y0 \
	VPADDD Y10, Y0, Y0 \
	VPADDD Y11, Y10, Y10 \
	VMOVDQU Y0, f*64(R11)

// LASTLINE sets feature 4: the last symbol alone, whose lines are in order, so that each also has its own ones in further rounds.
#define LASTLINE \
	VPSLLD $6, Y15, Y0 \
	VPADDD Y10, Y0, Y0 \
	VPADDD Y11, Y10, Y10 \
	VMOVDQU Y0, 4*64(R11)

// HALFOCTAVES sets y, whole numbers from 1 on, to what func halfOctaves returns: the exponent and the highest bit of the fraction of a
// float.
#define HALFOCTAVES(y) \
	VCVTDQ2PS y, y \
	VPSRLD $22, y, y \
	VPBROADCASTD numbers<>+24(SB), Y1 \
	VPSUBD Y1, y, y

// PLACES sets Y9 to the place, of at most 511, Y8 to the mean, and feature 0 by both, the mean in 1/(256 >> shift).
#define PLACES(shift) \
	VPXOR Y10, Y10, Y10 \
	VMOVDQU histories_last(R10), Y15 \
	VMOVDQU histories_slow(R10), Y8 \
	VPBROADCASTD numbers<>+8(SB), Y9 \
	VPMINUD histories_place(R10), Y9, Y9 \
	VPSRLD $shift, Y8, Y0 \
	VPSLLD $8, Y0, Y0 \
	VPSLLD $20, Y9, Y1 \
	VPOR Y1, Y0, Y0 \
	LINE(0)

// SHARES sets feature 2 by the share of the best symbol, in 1/(4096 >> shift), and the place.
#define SHARES(shift) \
	VMOVDQU histories_share(R10), Y0 \
	VPSRLD $shift, Y0, Y0 \
	VPSLLD $8, Y0, Y0 \
	VPSRLD $3, Y9, Y1 \
	VPSLLD $16, Y1, Y1 \
	VPOR Y1, Y0, Y0 \
	LINE(2)

// contexts sets where the lines of the next eight lanes start, at R11, as model.contexts. Their histories are at R10, the classes of their
// bases at BX.
TEXT contexts<>(SB), NOSPLIT, $0-0
	MOVQ coder_model(DI), AX
	VMOVD model_bits(AX), X12
	MOVL $const_lineBytes, CX
	VMOVD CX, X11
	VPSLLD X12, X11, X11
	MOVL $32, CX
	SUBL model_bits(AX), CX
	VMOVD CX, X12
	VPBROADCASTD X11, Y11
	VPBROADCASTD numbers<>+0(SB), Y14
	VPBROADCASTD numbers<>+4(SB), Y13
	CMPB model_kind(AX), $const_stepped
	JEQ stepped
	JHI given

	PLACES(8)
	VPBROADCASTD numbers<>+12(SB), Y0
	VPMINUD histories_run(R10), Y0, Y0
	VPSLLD $8, Y0, Y0
	VPSRLD $9, Y8, Y1
	VPSLLD $16, Y1, Y1
	VPOR Y1, Y0, Y0
	LINE(1)
	SHARES(9)
	VMOVDQU histories_second(R10), Y1
	VPSLLD $8, Y1, Y1
	VMOVDQU histories_third(R10), Y0
	VPMAXUD histories_fourth(R10), Y0, Y0
	VPSLLD $16, Y0, Y0
	VPOR Y1, Y0, Y0
	LINE(3)
	LASTLINE
	ADDQ $32, R10
	ADDQ $32, R11
	RET

stepped:
	PLACES(6)
	VMOVDQU histories_delta(R10), Y6
	VPSLLD $2, Y6, Y6
	VPBROADCASTD numbers<>+20(SB), Y0
	VPADDD Y0, Y6, Y6
	HALFOCTAVES(Y6)
	VPBROADCASTD numbers<>+16(SB), Y0
	VPMINUD Y0, Y6, Y6
	VPMINUD histories_run(R10), Y0, Y0
	VPSLLD $8, Y0, Y0
	VMOVDQU histories_before(R10), Y1
	VPSLLD $13, Y1, Y1
	VPOR Y1, Y0, Y0
	VPSLLD $18, Y6, Y1
	VPOR Y1, Y0, Y0
	LINE(1)
	SHARES(8)
	VMOVDQU histories_second(R10), Y0
	VPSLLD $8, Y0, Y0
	VMOVDQU histories_third(R10), Y1
	VPSLLD $12, Y1, Y1
	VPOR Y1, Y0, Y0
	VMOVDQU histories_fourth(R10), Y1
	VPSLLD $16, Y1, Y1
	VPOR Y1, Y0, Y0
	VPSLLD $20, Y6, Y1
	VPOR Y1, Y0, Y0
	LINE(3)
	LASTLINE
	ADDQ $32, R10
	ADDQ $32, R11
	RET

given:
	VPBROADCASTD numbers<>+20(SB), Y9 // 1
	VPXOR Y10, Y10, Y10
	VMOVDQU histories_last(R10), Y15
	VPMOVZXWD (BX), Y7
	VPBROADCASTD numbers<>+28(SB), Y8
	VPAND Y7, Y8, Y8
	VPSLLD $8, Y8, Y8 // the run of bases
	VPADDD histories_run(R10), Y9, Y0
	HALFOCTAVES(Y0)
	VPBROADCASTD numbers<>+12(SB), Y1
	VPMINUD Y1, Y0, Y0
	VPSLLD $16, Y0, Y0
	VPOR Y8, Y0, Y0
	VMOVDQU histories_share(R10), Y1
	VPSRLD $10, Y1, Y1
	VPSLLD $20, Y1, Y1
	VPOR Y1, Y0, Y0
	LINE(0)
	VPSLLD $8, Y7, Y0
	LINE(1)
	VMOVDQU histories_slow(R10), Y0
	VPSRLD $11, Y0, Y0
	VPSLLD $16, Y0, Y0
	VPOR Y8, Y0, Y0
	LINE(2)
	// The quotient of numbers below 1 << 21 is at most 64, and rounded down right, as the next whole number is more than 1 >> 15 away.
	VMOVDQU histories_tops(R10), Y0
	VPSLLD $6, Y0, Y0
	VCVTDQ2PS Y0, Y0
	VMOVDQU histories_place(R10), Y1
	VPSUBD histories_from(R10), Y1, Y1
	VPADDD Y9, Y1, Y1
	VCVTDQ2PS Y1, Y1
	VDIVPS Y1, Y0, Y0
	VCVTTPS2DQ Y0, Y0
	VPSLLD $16, Y0, Y0
	VPOR Y8, Y0, Y0
	LINE(3)
	LASTLINE
	ADDQ $16, BX
	ADDQ $32, R10
	ADDQ $32, R11
	RET
