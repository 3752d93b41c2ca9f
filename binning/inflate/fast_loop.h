// The body of fastBytes and fastSymbols. LITERALS and SOURCE are what they differ in.
//
// After bits are loaded there are 64 of them, of which a round uses at most 50: two entries of the table of literals and lengths
// (22; 20 for one of a subtable and its extra bits), and a distance with its extra bits (28). So the first entry of the next
// round is looked up before bits are loaded again.

	MOVQ s+0(FP), AX
	MOVQ IN(AX), SI
	MOVQ LAST(AX), R13
	ADDQ SI, R13
	ADDQ POS(AX), SI
	MOVQ OUT(AX), DI
	MOVQ LIMIT(AX), R12
	ADDQ DI, R12
	MOVQ LOW(AX), R11
	ADDQ DI, R11
	ADDQ N(AX), DI
	MOVQ BITS(AX), R8
	MOVQ LOADED(AX), CX
	MOVQ TABLES(AX), R10
	LOOKUP

	PCALIGN $32
round:
	CMPQ DI, R12
	JAE  full
	CMPQ SI, R13
	JA   full
refill:
	MOVQ (SI), DX
	SHLXQ CX, DX, DX
	ORQ  DX, R8
	MOVL CX, DX
	SHRL $3, DX
	ANDL $7, DX
	ADDQ $7, SI
	SUBQ DX, SI
	ORL  $56, CX
	TESTB $0x20, AX
	JNE  special

	SHRXQ AX, R8, R8
	SUBL AX, CX
	LITERALS
	TESTL AX, AX
	JGE  second

length:
	SHRL $24, AX

distance:
	MOVL R8, DX
	ANDL $511, DX
	MOVL DIST(R10)(DX*4), DX
	TESTB $0xc0, DX
	JNE  oddDistance

copy:
	BZHIQ DX, R8, R15
	SHRXQ DX, R8, R8
	SUBL DX, CX
	RORXL $8, DX, BX
	SHRXQ BX, R15, R15
	SHRL $16, DX
	ADDQ R15, DX
	SOURCE
	LOOKUP
	CMPQ DX, $16
	JB   near
	MOVOU (BX), X0
	MOVOU X0, (DI)
	MOVOU 16(BX), X0
	MOVOU X0, 16(DI)
	ADDQ $32, DI
	CMPQ DI, R14
	JB   far
	MOVQ R14, DI
	NEXT

far: // the length is more than 32
	MOVOU 32(BX), X0
	MOVOU X0, (DI)
	ADDQ $16, BX
	ADDQ $16, DI
	CMPQ DI, R14
	JB   far
	MOVQ R14, DI
	NEXT

near: // the match overlaps with its copy
	MOVOU (BX), X0
	MOVL DX, BX
	LEAQ ·nearStep(SB), R9
	MOVBLZX (R9)(BX*1), R9
	SHLL $4, BX
	LEAQ ·nearIndices(SB), R15
	MOVOU (R15)(BX*1), X1
	PSHUFB X1, X0
nearer:
	MOVOU X0, (DI)
	ADDQ R9, DI
	CMPQ DI, R14
	JB   nearer
	MOVQ R14, DI
	NEXT

second: // after literals 45 bits are left: enough for another entry of the table, and a distance
	LOOKUP
	TESTB $0x20, AX
	JNE  round
	SHRXQ AX, R8, R8
	SUBL AX, CX
	LITERALS
	TESTL AX, AX
	JLT  length
	LOOKUP
	NEXT

special:
	MOVL AX, DX
	ANDL $0xe0, DX
	CMPL DX, $0xa0 // kindSub
	JNE  single
	SHRQ $11, R8
	SUBL $11, CX
	MOVL AX, DX
	ANDL $15, DX
	BZHIQ DX, R8, BX
	SHRL $8, AX
	MOVWLZX AX, AX
	ADDL BX, AX
	MOVL LITSUB(R10)(AX*4), AX
single:
	MOVL AX, DX
	ANDL $15, DX
	SHRXQ DX, R8, R8
	SUBL DX, CX
	MOVL AX, DX
	ANDL $0xe0, DX
	CMPL DX, $0x60 // kindExtra
	JEQ  extra
	TESTB $0x20, AX
	JEQ  literal
	CMPL DX, $0x20 // kindEnd
	JNE  invalid
	MOVQ s+0(FP), AX
	MOVQ $1, ENDED(AX)
	JMP  stop

extra:
	MOVL AX, DX
	SHRL $16, DX
	BZHIQ DX, R8, BX
	SHRXQ DX, R8, R8
	SUBL DX, CX
	SHRL $8, AX
	MOVBLZX AX, AX
	LEAL 128(AX)(BX*1), AX
	JMP  distance

literal:
	LITERALS
	LOOKUP
	JMP  round

oddDistance:
	TESTB $0x40, DX // distSub
	JEQ  invalid
	SHRQ $9, R8
	SUBL $9, CX
	MOVL DX, BX
	SHRL $8, BX
	ANDL $15, BX
	BZHIQ BX, R8, BX
	SHRL $16, DX
	ADDL BX, DX
	MOVL DISTSUB(R10)(DX*4), DX
	TESTB $0x80, DX // distInvalid
	JEQ  copy

invalid: // the state remains as it was
	MOVQ s+0(FP), AX
	MOVQ $2, ENDED(AX)
	MOVB $0, ret+8(FP)
	RET

stop:
	XORL DX, DX
	JMP  done
full:
	MOVL $1, DX
done:
	MOVQ s+0(FP), AX
	SUBQ OUT(AX), DI
	MOVQ DI, N(AX)
	SUBQ IN(AX), SI
	MOVQ SI, POS(AX)
	ANDL $63, CX
	MOVQ R8, BITS(AX)
	MOVQ CX, LOADED(AX)
	MOVB DX, ret+8(FP)
	RET
