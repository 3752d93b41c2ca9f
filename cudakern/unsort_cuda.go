//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"errors"
	"fmt"
	"math/bits"
	"unsafe"
)

// ErrNoTransform means that bytes and a starting point are not those of a transform.
var ErrNoTransform = errors.New("this is no Burrows-Wheeler transform")

// unsorting are the arrays of an inverse transform on the device.
type unsorting struct {
	transformed, text    uint64
	counts, next         uint64
	pieces, owners       uint64
	lengths              uint64    // of splitters, with their successors
	nodes                [2]uint64 // of unsort_jump
	sums                 uint64    // extra and failed of struct Unsort
	work                 uint64
	size, tiles          int
	bits, splitters, all int // all: the most pieces
}

// rooms returns what the inverse transform of n bytes needs.
func (u *unsorting) rooms(n int) []room {
	u.size, u.tiles = n, threadBlocks(n, C.SUFFIX_TILE)
	u.bits = max(bits.Len(uint(n-1)), 1)
	u.splitters = max(1<<u.bits/C.UNSORT_GAP, 1)
	extra := n/C.UNSORT_GAP + 1
	u.all = u.splitters + 1 + extra
	list := []room{{&u.transformed, n}, {&u.text, n}, {&u.counts, 4*C.SUFFIX_DIGITS*u.tiles + 16}, {&u.next, 4 * n},
		{&u.pieces, C.UNSORT_GAP * u.all}, {&u.owners, 8 * extra}, {&u.sums, 8}, {&u.work, int(unsafe.Sizeof(C.struct_Unsort{}))}}
	for _, at := range []*uint64{&u.lengths, &u.nodes[0], &u.nodes[1]} {
		list = append(list, room{at, 8 * (u.splitters + 1)})
	}
	return list
}

// Inverse writes the text to dst of which transformed is the transform; origin is the rank of suffix 0. The error is ErrNoTransform if
// there is no such text, and wraps ErrMemory if the device has less than TransformMemory(len(transformed)).
func (t *Transformer) Inverse(dst, transformed []byte, origin uint32) error {
	n := len(transformed)
	if n == 0 || n > MaxTransform || len(dst) != n {
		return fmt.Errorf("an inverse transform of %d bytes to %d", n, len(dst))
	}
	if int64(origin) >= int64(n) {
		return ErrNoTransform
	}
	leave, err := t.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	var u unsorting
	if err := t.place(u.rooms(n), "an inverse transform"); err != nil {
		return err
	}
	if err := t.upload(u.transformed, transformed, "the transform"); err != nil {
		return err
	}
	if err := t.launch(kernelUnsortCount, u.tiles, u.transformed, uint64(n), u.counts); err != nil {
		return err
	}
	if err := t.scan(u.counts, C.SUFFIX_DIGITS*u.tiles); err != nil {
		return err
	}
	if err := t.launch(kernelUnsortNext, u.tiles, u.transformed, uint64(n), uint64(origin), u.counts, u.next); err != nil {
		return err
	}
	extra, err := t.walk(&u, origin)
	if err != nil {
		return err
	}
	last, err := t.jump(&u)
	if err != nil {
		return err
	}
	err = t.launch(kernelUnsortCopy, threadBlocks(u.splitters+1+extra, warps), u.pieces, u.owners, uint64(u.splitters), uint64(extra),
		u.lengths, last, uint64(n), u.text)
	if err != nil {
		return err
	}
	return t.download(dst, u.text, "the text")
}

// walk follows the text from all splitters, and returns how many pieces it needed besides one for each.
func (t *Transformer) walk(u *unsorting, origin uint32) (extra int, err error) {
	work := C.struct_Unsort{
		next: C.ulonglong(u.next), counts: C.ulonglong(u.counts), tiles: C.ulonglong(u.tiles), size: C.ulonglong(u.size),
		origin: C.ulonglong(origin), bits: C.ulonglong(u.bits), splitters: C.ulonglong(u.splitters), pieces: C.ulonglong(u.pieces),
		owners: C.ulonglong(u.owners), nodes: C.ulonglong(u.lengths), extra: C.ulonglong(u.sums), failed: C.ulonglong(u.sums + 4),
	}
	if err := t.upload(u.work, bytesOf([]C.struct_Unsort{work}), "the transform"); err != nil {
		return 0, err
	}
	if err := t.clear(u.sums, 8, "sums"); err != nil {
		return 0, err
	}
	if err := t.launch(kernelUnsortWalk, threadBlocks(u.splitters+1, threads), u.work); err != nil {
		return 0, err
	}
	var sums [2]uint32
	if err := t.download(bytesOf(sums[:]), u.sums, "sums"); err != nil {
		return 0, err
	}
	if sums[1] != 0 {
		return 0, ErrNoTransform
	}
	return int(sums[0]), nil
}

// jump finds how far each splitter is from the end of the text, and returns the nodes with these distances.
func (t *Transformer) jump(u *unsorting) (nodes uint64, err error) {
	from := u.lengths
	for k, reach := 0, 1; reach <= u.splitters+1; k, reach = k^1, 2*reach {
		err := t.launch(kernelUnsortJump, threadBlocks(u.splitters+1, threads), from, uint64(u.splitters), u.nodes[k])
		if err != nil {
			return 0, err
		}
		from = u.nodes[k]
	}
	// The whole text is before the end.
	var whole [1]uint64
	if err := t.download(bytesOf(whole[:]), from+8*uint64(u.splitters), "the length of the text"); err != nil {
		return 0, err
	}
	if whole[0] != uint64(u.splitters)<<32|uint64(u.size) {
		return 0, ErrNoTransform
	}
	return from, nil
}
