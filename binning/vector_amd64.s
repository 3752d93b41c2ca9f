#include "textflag.h"

// By the low half of a letter: the base that has it, and its code. No letter has a zero low half, so 0xff never matches.
DATA baseOf<>+0(SB)/8, $0x47000054430041ff
DATA baseOf<>+8(SB)/8, $0
GLOBL baseOf<>(SB), RODATA|NOPTR, $16
DATA codeOf<>+0(SB)/8, $0x0200000301000000
DATA codeOf<>+8(SB)/8, $0
GLOBL codeOf<>(SB), RODATA|NOPTR, $16

// Factors that join two codes of two bits, then two of four.
DATA joinCodes<>+0(SB)/4, $0x04010401
GLOBL joinCodes<>(SB), RODATA|NOPTR, $4
DATA joinPairs<>+0(SB)/4, $0x00100001
GLOBL joinPairs<>(SB), RODATA|NOPTR, $4
// The lowest byte of each four.
DATA lowest<>+0(SB)/8, $0xffffffff0c080400
DATA lowest<>+8(SB)/8, $0xffffffffffffffff
GLOBL lowest<>(SB), RODATA|NOPTR, $16

// 32 bytes that are all set, then 32 that are not.
DATA firstBytes<>+0(SB)/8, $0xffffffffffffffff
DATA firstBytes<>+8(SB)/8, $0xffffffffffffffff
DATA firstBytes<>+16(SB)/8, $0xffffffffffffffff
DATA firstBytes<>+24(SB)/8, $0xffffffffffffffff
DATA firstBytes<>+32(SB)/8, $0
DATA firstBytes<>+40(SB)/8, $0
DATA firstBytes<>+48(SB)/8, $0
DATA firstBytes<>+56(SB)/8, $0
GLOBL firstBytes<>(SB), RODATA|NOPTR, $64

DATA letterA<>+0(SB)/1, $65
GLOBL letterA<>(SB), RODATA|NOPTR, $1
DATA newline<>+0(SB)/1, $10
GLOBL newline<>(SB), RODATA|NOPTR, $1
DATA beforeQuals<>+0(SB)/1, $32
GLOBL beforeQuals<>(SB), RODATA|NOPTR, $1
DATA afterQuals<>+0(SB)/1, $127
GLOBL afterQuals<>(SB), RODATA|NOPTR, $1

// AHEAD is how many bytes ahead text is loaded into the cache: the processor by itself does not go beyond a page of 4 KiB, which it
// reads in a few hundred cycles.
#define AHEAD 2048

// CODES32 sets X0 to the packed codes of the letters Y0, or jumps to others if one of them is not A, C, G or T.
#define CODES32 \
	VPSHUFB Y0, Y8, Y1 \
	VPCMPEQB Y0, Y1, Y1 \
	VPMOVMSKB Y1, AX \
	CMPL AX, $-1 \
	JNE others \
	VPSHUFB Y0, Y9, Y0 \
	VPMADDUBSW Y10, Y0, Y0 \
	VPMADDWD Y11, Y0, Y0 \
	VPSHUFB Y12, Y0, Y0 \
	VEXTRACTI128 $1, Y0, X1 \
	VPUNPCKLDQ X1, X0, X0

// func packVector(dst, seq *byte, n int) int
TEXT ·packVector(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ seq+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTI128 baseOf<>(SB), Y8
	VBROADCASTI128 codeOf<>(SB), Y9
	VPBROADCASTD joinCodes<>(SB), Y10
	VPBROADCASTD joinPairs<>(SB), Y11
	VBROADCASTI128 lowest<>(SB), Y12
	SUBQ $32, CX
	JLT tail

whole:
	PREFETCHT0 AHEAD(SI)
	VMOVDQU (SI), Y0
	CODES32
	VMOVQ X0, (DI)
	ADDQ $32, SI
	ADDQ $8, DI
	SUBQ $32, CX
	JGE whole

tail:
	ADDQ $32, CX
	JEQ done
	// What is not of the read becomes A, which is code 0.
	LEAQ firstBytes<>+32(SB), BX
	SUBQ CX, BX
	VMOVDQU (BX), Y2
	VPBROADCASTB letterA<>(SB), Y0
	VPBLENDVB Y2, (SI), Y0, Y0
	CODES32
	VMOVQ X0, (DI)
	ADDQ CX, SI

done:
others:
	VZEROUPPER
	SUBQ seq+8(FP), SI
	MOVQ SI, ret+24(FP)
	RET

// func qualsVector(dst, src *byte, n int) bool
TEXT ·qualsVector(SB), NOSPLIT, $0-25
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	VPBROADCASTB beforeQuals<>(SB), Y8
	VPBROADCASTB afterQuals<>(SB), Y9
	// The last 32 bytes first
	VMOVDQU -32(SI)(CX*1), Y0
	VPCMPGTB Y8, Y0, Y4
	VPCMPGTB Y0, Y9, Y5
	TESTQ DI, DI
	JEQ checkNext
	VMOVDQU Y0, -32(DI)(CX*1)

copyNext:
	SUBQ $32, CX
	JLE checked
	PREFETCHT0 AHEAD(SI)
	VMOVDQU (SI), Y0
	VPCMPGTB Y8, Y0, Y1
	VPCMPGTB Y0, Y9, Y2
	VPAND Y1, Y4, Y4
	VPAND Y2, Y5, Y5
	VMOVDQU Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	JMP copyNext

checkNext:
	SUBQ $32, CX
	JLE checked
	PREFETCHT0 AHEAD(SI)
	VMOVDQU (SI), Y0
	VPCMPGTB Y8, Y0, Y1
	VPCMPGTB Y0, Y9, Y2
	VPAND Y1, Y4, Y4
	VPAND Y2, Y5, Y5
	ADDQ $32, SI
	JMP checkNext

checked:
	VPAND Y4, Y5, Y4
	VPMOVMSKB Y4, AX
	VZEROUPPER
	CMPL AX, $-1
	SETEQ ret+24(FP)
	RET

// func newlinesVector(dst *uint32, room int, text *byte, n int, offset uint32) (found, scanned int)
TEXT ·newlinesVector(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ room+8(FP), R8
	MOVQ text+16(FP), SI
	MOVQ n+24(FP), CX
	MOVL offset+32(FP), R9
	VPBROADCASTB newline<>(SB), Y8
	LEAQ -256(DI)(R8*4), R8
	MOVQ SI, R10
	SUBQ $64, CX
	JLT end

next:
	CMPQ DI, R8
	JHI end
	PREFETCHT0 AHEAD(SI)
	VPCMPEQB (SI), Y8, Y0
	VPCMPEQB 32(SI), Y8, Y1
	VPMOVMSKB Y0, AX
	VPMOVMSKB Y1, BX
	SHLQ $32, BX
	ORQ BX, AX
	POPCNTQ AX, R11
	// Four of them whether they are there or not: what is too much is overwritten.
	TZCNTQ AX, R12
	ADDL R9, R12
	MOVL R12, (DI)
	BLSRQ AX, AX
	TZCNTQ AX, R12
	ADDL R9, R12
	MOVL R12, 4(DI)
	BLSRQ AX, AX
	TZCNTQ AX, R12
	ADDL R9, R12
	MOVL R12, 8(DI)
	BLSRQ AX, AX
	TZCNTQ AX, R12
	ADDL R9, R12
	MOVL R12, 12(DI)
	BLSRQ AX, AX
	JNE many

stored:
	LEAQ (DI)(R11*4), DI
	ADDQ $64, SI
	ADDL $64, R9
	SUBQ $64, CX
	JGE next

end:
	VZEROUPPER
	SUBQ dst+0(FP), DI
	SHRQ $2, DI
	MOVQ DI, found+40(FP)
	SUBQ R10, SI
	MOVQ SI, scanned+48(FP)
	RET

many:
	LEAQ 16(DI), R13

another:
	TZCNTQ AX, R12
	ADDL R9, R12
	MOVL R12, (R13)
	ADDQ $4, R13
	BLSRQ AX, AX
	JNE another
	JMP stored
