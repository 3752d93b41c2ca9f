//go:build cuda

package cudakern

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// textAt returns the address of a byte of the lane's text.
func (l *Lane) textAt(i int) cu.DevicePtr { return l.text.ptr + textPad + cu.DevicePtr(i) }

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
	leave, err := l.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	var larger buffer
	if err := larger.grow(n+n/8+2*textPad, "the text"); err != nil {
		return err
	}
	old := l.text
	if keep > 0 {
		if err := cu.MemcpyAsync(larger.ptr+textPad, old.ptr+textPad, int64(keep), l.stream); err != nil {
			larger.free()
			return l.fault(err)
		}
		if err := l.stream.Synchronize(); err != nil {
			larger.free()
			return l.fault(err)
		}
	}
	l.text = larger
	return old.free()
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
	if err := cu.MemcpyHtoDAsync(l.textAt(at), unsafe.Pointer(unsafe.SliceData(p.Mem)), int64(n), l.stream); err != nil {
		return fmt.Errorf("copying text to the device: CUDA error %w", err)
	}
	return p.inUse(l)
}

// ReadText reads the text from byte from on into p, when everything that was queued is done.
func (l *Lane) ReadText(p []byte, from int) error {
	leave, err := l.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	return l.readText(p, from)
}

func (l *Lane) readText(p []byte, from int) error {
	if len(p) == 0 {
		return nil
	}
	if err := cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(p)), l.textAt(from), int64(len(p)), l.stream); err != nil {
		return l.fault(err)
	}
	if err := l.stream.Synchronize(); err != nil {
		return l.fault(err)
	}
	return nil
}

// CountLines returns how many line ends are in each CountPiece bytes of from..to-1 of the text, when
// everything that was queued is done.
func (l *Lane) CountLines(from, to int) ([]int, error) {
	if from >= to {
		return nil, nil
	}
	leave, err := l.dev.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	n := threadBlocks(to-from, CountPiece)
	if err := l.roomForState(threadBlocks(n, 2)); err != nil {
		return nil, err
	}
	if err := cu.MemsetD32Async(l.state.ptr, 0, int64(n), l.stream); err != nil {
		return nil, l.fault(err)
	}
	l.setStep(kernelNone)
	err = l.launch(kernelCountLines, threadBlocks(to-from, countTile), uint64(l.textAt(0)), uint64(from), uint64(to-from), l.state.at())
	if err != nil {
		return nil, err
	}
	words := make([]uint32, n)
	if err := cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(words)), l.state.ptr, int64(4*n), l.stream); err != nil {
		return nil, l.fault(err)
	}
	if err := l.stream.Synchronize(); err != nil {
		return nil, l.fault(err)
	}
	counts := make([]int, n)
	for i, w := range words {
		counts[i] = int(w)
	}
	return counts, nil
}
