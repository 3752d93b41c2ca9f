#include "textflag.h"

// CODE adds the code of a symbol, which is at AT+1 of SRC after the one before it, to the bits of ACC. N is how many there are, in its
// lowest six bits.
#define CODE(AT, SRC, ACC, N, T, U) \
	MOVWLZX AT(SRC), T \
	MOVWLZX (DX)(T*2), T \
	MOVL T, U \
	SHRL $6, U \
	SHLXQ N, U, U \
	ORQ U, ACC \
	ADDL T, N

// STORE stores the bits of ACC, of which less than eight are left.
#define STORE(DST, ACC, N, T, U) \
	MOVQ ACC, (DST) \
	MOVL N, T \
	SHRL $3, T \
	ANDL $7, T \
	ADDQ T, DST \
	MOVL N, U \
	ANDL $56, U \
	SHRXQ U, ACC, ACC \
	ANDL $7, N

// func putVector(dst, src *[2]*byte, groups int, table *[pairTable]uint16, bits *[2]partBits)
TEXT ·putVector(SB), NOSPLIT, $8-40
	MOVQ dst+0(FP), AX
	MOVQ src+8(FP), BX
	MOVQ groups+16(FP), CX
	MOVQ table+24(FP), DX
	MOVQ 0(AX), DI
	MOVQ 8(AX), R8
	MOVQ 0(BX), SI
	MOVQ 8(BX), R9
	XORL R10, R10
	XORL R11, R11
	XORL R12, R12
	XORL R13, R13

group:
	CODE(0, SI, R10, R12, AX, BX)
	CODE(0, R9, R11, R13, R15, BP)
	CODE(1, SI, R10, R12, AX, BX)
	CODE(1, R9, R11, R13, R15, BP)
	CODE(2, SI, R10, R12, AX, BX)
	CODE(2, R9, R11, R13, R15, BP)
	CODE(3, SI, R10, R12, AX, BX)
	CODE(3, R9, R11, R13, R15, BP)
	CODE(4, SI, R10, R12, AX, BX)
	CODE(4, R9, R11, R13, R15, BP)
	STORE(DI, R10, R12, AX, BX)
	STORE(R8, R11, R13, R15, BP)
	ADDQ $5, SI
	ADDQ $5, R9
	DECQ CX
	JNZ group

	MOVQ bits+32(FP), AX
	MOVQ dst+0(FP), BX
	SUBQ 0(BX), DI
	SUBQ 8(BX), R8
	MOVQ R10, 0(AX)
	MOVQ R12, 8(AX)
	MOVQ DI, 16(AX)
	MOVQ R11, 24(AX)
	MOVQ R13, 32(AX)
	MOVQ R8, 40(AX)
	RET
