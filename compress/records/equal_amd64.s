#include "textflag.h"

// func equalVector(a, b *byte, blocks int) int
TEXT ·equalVector(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ blocks+16(FP), CX
	VPXOR Y0, Y0, Y0 // zero
	VPXOR Y1, Y1, Y1 // four counts

some:
	MOVQ $255, DX // blocks for which counts of a byte suffice
	CMPQ CX, DX
	JGE enough
	MOVQ CX, DX

enough:
	SUBQ DX, CX
	VPXOR Y2, Y2, Y2 // minus the counts of each byte of the blocks

block:
	VMOVDQU (SI), Y3
	VPCMPEQB (DI), Y3, Y3
	VPADDB Y3, Y2, Y2
	ADDQ $32, SI
	ADDQ $32, DI
	DECQ DX
	JNZ block
	VPSUBB Y2, Y0, Y2
	VPSADBW Y0, Y2, Y2
	VPADDQ Y2, Y1, Y1
	TESTQ CX, CX
	JNZ some
	VEXTRACTI128 $1, Y1, X2
	VPADDQ X2, X1, X1
	VPSRLDQ $8, X1, X2
	VPADDQ X2, X1, X1
	VMOVQ X1, AX
	MOVQ AX, ret+24(FP)
	VZEROUPPER
	RET
