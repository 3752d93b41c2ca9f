package basemodel

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"orcomgo/compress/mixing"
	"orcomgo/compress/rangecoder"
)

// hasAVX2 reports whether the processor has the vector instructions that are used.
var hasAVX2 = cpuid.CPU.Supports(cpuid.AVX2)

// predict predicts the decisions of the next base. What s and w point to is fetched into the cache.
func (x *mixer) predict(h uint64, context uint32, s *uint32, w *uint64) {
	if hasAVX2 {
		predictVector(x, h, context, s, w)
		return
	}
	x.predictPlain(h, context)
}

// learn learns base b, which was predicted, and updates the contexts of the other strand.
func (x *mixer) learn(h, r uint64, context, b uint32) {
	if hasAVX2 {
		learnVector(x, h, r, context, b)
		return
	}
	x.learnPlain(h, r, context, b)
}

// encodeSome predicts and learns bases, the first of which follows h, and enters their decisions in out. basesAhead bytes after the bases
// are readable.
func (x *mixer) encodeSome(h, r uint64, bases []byte, contexts []uint32, out []rangecoder.Decision) {
	if hasAVX2 {
		encodeVector(x, h, r, &bases[0], &contexts[0], len(bases), &out[0])
		return
	}
	x.encodePlain(h, r, bases, contexts, out)
}

// prefetchAll fetches elements i of a table into the cache.
func prefetchAll[T any](table []T, i []uint32) {
	if len(i) > 0 {
		prefetch(unsafe.Pointer(&table[0]), uint(unsafe.Sizeof(table[0])), &i[0], len(i))
	}
}

//go:noescape
func predictVector(x *mixer, h uint64, context uint32, s *uint32, w *uint64)

//go:noescape
func learnVector(x *mixer, h, r uint64, context, b uint32)

//go:noescape
func encodeVector(x *mixer, h, r uint64, bases *byte, contexts *uint32, n int, out *rangecoder.Decision)

//go:noescape
func prefetch(base unsafe.Pointer, size uint, index *uint32, n int)

// The tables that the assembler reads.
var (
	// stretched is mixing.Stretch of a counter's probability, squashed is mixing.Squash of a number less 2048.
	//lint:ignore U1000 the assembler reads it
	stretched = func() (t [4096]int32) {
		for p := range t {
			t[p] = mixing.Stretch(uint32(p) << 4)
		}
		return
	}()
	//lint:ignore U1000 the assembler reads it
	squashed = func() (t [4096]uint16) {
		for x := range t {
			t[x] = uint16(mixing.Squash(int32(x) - 2048))
		}
		return
	}()
	// The words of a node that a base updates, and the values towards which they move.
	//lint:ignore U1000 the assembler reads it
	updateMask = [4][4]uint16{{0xffff, 0xffff}, {0xffff, 0xffff}, {0xffff, 0, 0xffff}, {0xffff, 0, 0xffff}}
	//lint:ignore U1000 the assembler reads it
	updateTarget = [4][4]uint16{{0, 0}, {0, 4095}, {4095, 0, 0}, {4095, 0, 4095}}
)
