//go:build !race && !inflate_checked

#include "textflag.h"

// x^(2048+31) and x^(2048-33) modulo the polynomial, reflected.
DATA foldFactors<>+0(SB)/8, $0x11542778a
DATA foldFactors<>+8(SB)/8, $0x1322d1430
GLOBL foldFactors<>(SB), RODATA|NOPTR, $16

// FOLD replaces 64 bytes by those 256 bytes later, to which it adds what they are worth there.
#define FOLD(AT, ACC, LOW) \
	VPCLMULQDQ $0x00, Z8, ACC, LOW \
	VPCLMULQDQ $0x11, Z8, ACC, ACC \
	VPTERNLOGQ $0x96, AT(SI), LOW, ACC

// func foldCRC(folded *[256]byte, text *byte, n int, register uint32)
TEXT ·foldCRC(SB), NOSPLIT, $0-28
	MOVQ folded+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ n+16(FP), CX
	MOVL register+24(FP), AX
	VBROADCASTI32X4 foldFactors<>(SB), Z8
	VMOVD AX, X0
	VPXORQ (SI), Z0, Z0
	VMOVDQU64 64(SI), Z1
	VMOVDQU64 128(SI), Z2
	VMOVDQU64 192(SI), Z3
	SUBQ $256, CX
	JEQ  done

fold:
	ADDQ $256, SI
	FOLD(0, Z0, Z4)
	FOLD(64, Z1, Z5)
	FOLD(128, Z2, Z6)
	FOLD(192, Z3, Z7)
	SUBQ $256, CX
	JNE  fold

done:
	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z1, 64(DI)
	VMOVDQU64 Z2, 128(DI)
	VMOVDQU64 Z3, 192(DI)
	VZEROUPPER
	RET
