//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// textAt returns the address of a byte of the lane's text.
func (l *Lane) textAt(i int) uint64 { return l.text.at() + textPad + uint64(i) }

// TextRoom returns how many bytes of text there is room for, at most MaxText.
func (l *Lane) TextRoom() int { return max(0, min(l.text.size-2*textPad, MaxText)) }

// GrowText makes room for n bytes of text, of which the first keep stay as they are. The error
// wraps ErrMemory if there is too little memory; then nothing has changed.
func (l *Lane) GrowText(n, keep int) error {
	if n <= l.TextRoom() {
		return nil
	}
	if n > MaxText {
		return fmt.Errorf("a block of %d MB: %w", n>>20, ErrMemory)
	}
	return l.do(func() {
		var larger buffer
		if l.err = larger.allocate(n+n/8+2*textPad, "the text"); l.err != nil {
			return
		}
		l.move(uint64(larger.ptr)+textPad, l.textAt(0), keep, "the text")
		if l.wait(); l.err != nil {
			larger.free()
			return
		}
		l.err = l.text.free()
		l.text.ptr, l.text.size = larger.ptr, larger.size
	})
}

// Upload queues the copying of the first n bytes of a piece to the text, from byte at on, and gives
// the piece back to its ring. It may be called by several goroutines at once.
func (l *Lane) Upload(p *Piece, n, at int) error {
	defer p.Release()
	if n == 0 {
		return nil
	}
	if at+n > l.TextRoom() {
		return fmt.Errorf("%d bytes of text at %d have no room", n, at)
	}
	leave, err := l.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	err = cu.MemcpyHtoDAsync(cu.DevicePtr(l.textAt(at)), unsafe.Pointer(unsafe.SliceData(p.Mem)), int64(n), l.stream)
	if err != nil {
		return cudaError("copying text to the device", err)
	}
	return p.inUse(l)
}

// ReadText reads the text from byte from on into p, when everything that was queued is done.
func (l *Lane) ReadText(p []byte, from int) error {
	return l.do(func() { l.download(p, l.textAt(from), "the text") })
}

// CountLines returns how many line ends are in each CountPiece bytes of from..to-1 of the text, when
// everything that was queued is done.
func (l *Lane) CountLines(from, to int) ([]int, error) {
	if from >= to {
		return nil, nil
	}
	words := make([]uint32, threadBlocks(to-from, CountPiece))
	err := l.do(func() {
		*l.step() = C.STEP_NONE
		l.grow(&l.state, 4*len(words), "counts of lines")
		l.setWords(l.state.at(), 0, len(words), "counts of lines")
		l.launch(C.STEP_COUNT_LINES, threadBlocks(to-from, C.COUNT_TILE), l.textAt(0), uint64(from), uint64(to-from), l.state.at())
		l.download(bytesOf(words), l.state.at(), "counts of lines")
	})
	counts := make([]int, len(words))
	for i, w := range words {
		counts[i] = int(w)
	}
	return counts, err
}
