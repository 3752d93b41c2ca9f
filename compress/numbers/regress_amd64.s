#include "textflag.h"

// func learnVector(a, b, x *float64, n, stride int, forget, y float64)
TEXT ·learnVector(SB), NOSPLIT, $0-56
	MOVQ a+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ x+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ stride+32(FP), R8
	VBROADCASTSD forget+40(FP), Y0
	VBROADCASTSD y+48(FP), Y1
	XORQ AX, AX

products:
	VMULPD (SI)(AX*8), Y0, Y2
	VMULPD (DX)(AX*8), Y1, Y3
	VADDPD Y3, Y2, Y2
	VMOVUPD Y2, (SI)(AX*8)
	ADDQ $4, AX
	CMPQ AX, CX
	JLT products
	XORQ BX, BX // the row

row:
	VBROADCASTSD (DX)(BX*8), Y1
	MOVQ BX, AX

columns:
	VMULPD (DI)(AX*8), Y0, Y2
	VMULPD (DX)(AX*8), Y1, Y3
	VADDPD Y3, Y2, Y2
	VMOVUPD Y2, (DI)(AX*8)
	ADDQ $4, AX
	CMPQ AX, CX
	JLT columns
	LEAQ (DI)(R8*8), DI
	INCQ BX
	CMPQ BX, CX
	JLT row
	VZEROUPPER
	RET

// func factorVector(u, y *float64, n, stride int, least float64) bool
TEXT ·factorVector(SB), NOSPLIT, $0-41
	MOVQ u+0(FP), DI
	MOVQ y+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ stride+24(FP), R8
	XORQ R9, R9 // the row k at DI

pivot:
	VMOVSD (DI)(R9*8), X0
	VUCOMISD least+32(FP), X0
	JLS singular // or not a number
	VSQRTSD X0, X0, X0
	VMOVSD (SI)(R9*8), X1
	VDIVSD X0, X1, X1
	VMOVSD X0, (DI)(R9*8)
	VMOVSD X1, (SI)(R9*8)
	LEAQ 1(R9), BX
	CMPQ BX, CX
	JGE done
	VBROADCASTSD X0, Y0
	VBROADCASTSD X1, Y1
	MOVQ BX, AX

divide:
	VMOVUPD (DI)(AX*8), Y2
	VMOVUPD (SI)(AX*8), Y4
	VDIVPD Y0, Y2, Y2
	VMOVUPD Y2, (DI)(AX*8)
	VMULPD Y1, Y2, Y3
	VSUBPD Y3, Y4, Y4
	VMOVUPD Y4, (SI)(AX*8)
	ADDQ $4, AX
	CMPQ AX, CX
	JLT divide
	LEAQ (DI)(R8*8), R10 // the row BX

rest:
	VBROADCASTSD (DI)(BX*8), Y1
	MOVQ BX, AX

subtract:
	VMULPD (DI)(AX*8), Y1, Y2
	VMOVUPD (R10)(AX*8), Y3
	VSUBPD Y2, Y3, Y3
	VMOVUPD Y3, (R10)(AX*8)
	ADDQ $4, AX
	CMPQ AX, CX
	JLT subtract
	LEAQ (R10)(R8*8), R10
	INCQ BX
	CMPQ BX, CX
	JLT rest
	LEAQ (DI)(R8*8), DI
	INCQ R9
	JMP pivot

done:
	MOVB $1, ret+40(FP)
	VZEROUPPER
	RET

singular:
	MOVB $0, ret+40(FP)
	VZEROUPPER
	RET
