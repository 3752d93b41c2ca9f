//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// Transformer computes the Burrows-Wheeler transform of texts, which package bwt defines. It is used by one goroutine at a time; several
// Transformers of a device overlap copying and computing. Its memory grows to what the largest text needs.
type Transformer struct{ queue }

// NewTransformer makes a Transformer. The error wraps ErrMemory if there is too little memory.
func (d *Device) NewTransformer() (*Transformer, error) {
	t := &Transformer{}
	return t, t.open(d)
}

// suffixList is a list of suffixes: where they begin, their ranks and their depths, each in an array on the device.
type suffixList struct{ at, rank, depth uint64 }

// suffixes are the arrays of a transform on the device.
type suffixes struct {
	text, transformed uint64
	ranks             uint64    // by where suffixes begin, with their depths
	keys              [2]uint64 // of the radix sort
	values            [2]uint64
	all, small        suffixList
	group             uint64 // the groups of the suffixes in values[0]
	bases, depths     uint64 // of these groups
	counts, heads     uint64
	seen, numbers     uint64
	lists             uint64 // struct SuffixLists
	starts            uint64
	size, tiles       int
	smalls, larges    int // suffixes in the lists
	groups            int // large ones
	orderBits         int
}

// rooms returns what the transform of n bytes needs.
func (s *suffixes) rooms(n, starts int) []room {
	s.size, s.tiles = n, threadBlocks(n, C.SUFFIX_TILE)
	groups := n/C.SUFFIX_SMALL + 1
	list := []room{{&s.text, n + overrun}, {&s.transformed, n}, {&s.ranks, 8 * n}, {&s.bases, 4 * groups}, {&s.depths, 4 * groups},
		{&s.counts, 4*C.SUFFIX_DIGITS*s.tiles + 16}, {&s.heads, 4 * s.tiles}, {&s.seen, 32}, {&s.numbers, 256},
		{&s.lists, int(unsafe.Sizeof(C.struct_SuffixLists{}))}, {&s.starts, 4 * starts}}
	for k := range 2 {
		list = append(list, room{&s.keys[k], 8 * n}, room{&s.values[k], 4 * n})
	}
	for _, at := range []*uint64{&s.all.at, &s.all.rank, &s.all.depth, &s.small.at, &s.small.rank, &s.small.depth, &s.group} {
		list = append(list, room{at, 4 * n})
	}
	return list
}

// MaxTransform is the most bytes of a text for a Transformer.
const MaxTransform = 1 << 30

// TransformSampled writes the transform of text to dst, which is as long, the ranks of the suffixes 0, step, 2*step, ... to starts, and
// where the suffixes of the ranks every-1, 2*every-1, ... begin to samples. The error wraps ErrMemory if the device has too little memory.
func (t *Transformer) TransformSampled(dst, text []byte, step int, starts []uint32, every int, samples []uint32) error {
	n := len(text)
	if n == 0 || n > MaxTransform || len(dst) != n || step < 1 || len(starts) != (n+step-1)/step || every < 1 || len(samples) != n/every {
		return fmt.Errorf("a transform of %d bytes to %d, with %d starting points and %d samples", n, len(dst), len(starts), len(samples))
	}
	return t.do(func() {
		var s suffixes
		t.place(s.rooms(n, len(starts)), "sorting suffixes")
		t.upload(s.text, text, "text")
		t.sortKeys(&s)
		for {
			if t.divide(&s); s.smalls+s.larges == 0 || t.err != nil {
				break
			}
			t.refine(&s)
		}
		t.launch(C.STEP_SUFFIX_STARTS, threadBlocks(len(starts), threads), s.ranks, uint64(step), uint64(len(starts)), s.starts)
		t.download(bytesOf(starts), s.starts, "starting points")
		if len(samples) > 0 {
			// All suffixes are in order, so the memory of the sort is free.
			t.launch(C.STEP_SUFFIX_SAMPLES, threadBlocks(n, threads), s.ranks, uint64(n), uint64(every), s.values[0])
			t.download(bytesOf(samples), s.values[0], "samples")
		}
		t.download(dst, s.transformed, "the transform")
	})
}

// sortKeys sorts all suffixes by keys of their first symbols into the list of all.
func (t *Transformer) sortKeys(s *suffixes) {
	n := uint64(s.size)
	t.set(s.seen, 0, 32, "sets of symbols")
	t.launch(C.STEP_SUFFIX_SYMBOLS, s.tiles, s.text, n, s.seen)
	var seen [8]uint32
	t.download(bytesOf(seen[:]), s.seen, "sets of symbols")
	numbers, symbols := make([]byte, 256), 0
	for b := range numbers {
		if seen[b>>5]>>(b&31)&1 == 1 {
			numbers[b] = byte(symbols)
			symbols++
		}
	}
	t.upload(s.numbers, numbers, "numbers of symbols")
	lists := C.struct_SuffixLists{
		small_at: C.ulonglong(s.small.at), small_rank: C.ulonglong(s.small.rank), small_depth: C.ulonglong(s.small.depth),
		large_at: C.ulonglong(s.values[0]), large_group: C.ulonglong(s.group),
		bases: C.ulonglong(s.bases), depths: C.ulonglong(s.depths),
	}
	t.upload(s.lists, bytesOf([]C.struct_SuffixLists{lists}), "lists")
	// So many bits tell most suffixes of a random text apart.
	keyBits := min(max((2*bits.Len(uint(s.size))-8+7)/8*8, 16), 56)
	s.orderBits = bits.Len(uint(s.size + C.SUFFIX_PAD))
	width := max(bits.Len(uint(symbols-1)), 1)
	t.launch(C.STEP_SUFFIX_KEYS, s.tiles, s.text, n, s.numbers, uint64(width), uint64(keyBits), s.keys[0])
	in := t.radixSort(s, s.size, 64-keyBits, 64, false)
	t.listGroups(s, s.size, in, 64-keyBits, 0, s.all)
}

// radixSort sorts n keys and their values by the bits from low to high-1; the values are 0, 1, 2, ... unless they are given. It returns in
// which of the two arrays they are then. They are in the first before.
func (t *Transformer) radixSort(s *suffixes, n, low, high int, given bool) (in int) {
	tiles := threadBlocks(n, C.SUFFIX_TILE)
	const digit = 8
	_ = [1]int{}[C.SUFFIX_DIGITS-1<<digit]
	for shift := low; shift < high; shift += digit {
		values := s.values[in]
		if shift == low && !given {
			values = 0
		}
		t.launch(C.STEP_SUFFIX_COUNT, tiles, s.keys[in], uint64(n), uint64(shift), s.counts)
		t.scanTotal(s.counts, C.SUFFIX_DIGITS*tiles)
		t.launch(C.STEP_SUFFIX_SCATTER, tiles, s.keys[in], values, uint64(n), uint64(shift), s.counts, s.keys[1-in], s.values[1-in])
		in = 1 - in
	}
	return in
}

// listGroups writes the list of n suffixes that are sorted by keys.
func (t *Transformer) listGroups(s *suffixes, n, in, shift, orderBits int, to suffixList) {
	tiles := threadBlocks(n, C.SUFFIX_TILE)
	t.launch(C.STEP_SUFFIX_HEADS, tiles, s.keys[in], uint64(n), uint64(shift), s.heads)
	t.launch(C.STEP_SUFFIX_CARRY, 1, s.heads, uint64(tiles))
	t.launch(C.STEP_SUFFIX_GROUPS, tiles, s.keys[in], s.values[in], uint64(n), uint64(shift), uint64(orderBits), s.heads, s.bases,
		s.depths, s.ranks, uint64(s.size), to.at, to.rank, to.depth)
}

// divide divides the list of all suffixes that are not in order into small and large groups.
func (t *Transformer) divide(s *suffixes) {
	n := s.smalls + s.larges
	if n == 0 {
		n = s.size
	}
	tiles := threadBlocks(n, C.SUFFIX_TILE)
	t.launch(C.STEP_SUFFIX_DIVIDE_COUNT, tiles, s.all.rank, uint64(n), s.counts)
	t.scanTotal(s.counts, 3*tiles)
	t.launch(C.STEP_SUFFIX_DIVIDE, tiles, s.all.at, s.all.rank, s.all.depth, uint64(n), s.counts, s.text, uint64(s.size),
		s.transformed, s.ranks, s.lists)
	var large, groups [1]uint32
	t.fetch(bytesOf(large[:]), s.counts+4*uint64(tiles), "sums")
	t.fetch(bytesOf(groups[:]), s.counts+8*uint64(tiles), "sums")
	sum := t.sum()
	s.smalls, s.larges, s.groups = int(large[0]), int(groups[0]-large[0]), int(sum-groups[0])
}

// refine sorts the small and the large groups by the ranks of the suffixes that begin after what they have in common, into the list of all.
func (t *Transformer) refine(s *suffixes) {
	t.launch(C.STEP_SUFFIX_SMALL, threadBlocks(s.smalls, C.SUFFIX_GROUP_TILE), s.small.at, s.small.rank, s.small.depth,
		uint64(s.smalls), s.ranks, uint64(s.size), s.all.at, s.all.rank, s.all.depth)
	if s.larges == 0 {
		return
	}
	t.launch(C.STEP_SUFFIX_LARGE_KEYS, threadBlocks(s.larges, threads), s.values[0], s.group, uint64(s.larges), s.depths, s.ranks,
		uint64(s.size), uint64(s.orderBits), s.keys[0])
	in := t.radixSort(s, s.larges, 0, s.orderBits+bits.Len(uint(s.groups-1)), true)
	skip := 4 * uint64(s.smalls)
	t.listGroups(s, s.larges, in, 0, s.orderBits, suffixList{s.all.at + skip, s.all.rank + skip, s.all.depth + skip})
}
