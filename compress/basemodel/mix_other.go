//go:build !amd64

package basemodel

import "orcomgo/compress/rangecoder"

func (x *mixer) predict(h uint64, context uint32, _ *uint32, _ *uint64) { x.predictPlain(h, context) }

func (x *mixer) learn(h, r uint64, context, b uint32) { x.learnPlain(h, r, context, b) }

func (x *mixer) encodeSome(h, r uint64, bases []byte, contexts []uint32, out []rangecoder.Decision) {
	x.encodePlain(h, r, bases, contexts, out)
}

func prefetchAll[T any]([]T, []uint32) {}
