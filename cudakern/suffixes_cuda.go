//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"bytes"
	"fmt"
	"math/bits"
	"unsafe"

	"orcomgo/internal/alphabetic"
)

// Transformer computes the Burrows-Wheeler transform of texts, which package bwt defines. It is used by one goroutine at a time; several
// Transformers of a device overlap copying and computing. Its memory grows to what the largest text needs.
type Transformer struct{ roomyQueue }

// NewTransformer makes a Transformer. The error wraps ErrMemory if there is too little memory.
func (d *Device) NewTransformer() (*Transformer, error) {
	t := &Transformer{}
	return t, t.make(d)
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
	seen, pairs       uint64
	numbers, codes    uint64
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
		{&s.counts, 4*C.SUFFIX_DIGITS*s.tiles + 16}, {&s.heads, 4 * s.tiles}, {&s.seen, 32}, {&s.pairs, 4 << 16}, {&s.numbers, 256},
		{&s.codes, 4 * C.SUFFIX_CODES}, {&s.lists, int(unsafe.Sizeof(C.struct_SuffixLists{}))}, {&s.starts, 4 * starts}}
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

// TransformMemory returns how many bytes of device memory Transform needs for a text of n bytes.
func TransformMemory(n int) int {
	var s suffixes
	total := 8*(threadBlocks(C.SUFFIX_DIGITS*threadBlocks(n, C.SUFFIX_TILE), scanTile)+1) + copyPiece
	for _, r := range s.rooms(n, 1<<10) {
		total += r.size + roomAlign
	}
	return total
}

// Transform writes the transform of text to dst, which is as long, and the ranks of the suffixes 0, step, 2*step, ... to starts. The error
// wraps ErrMemory if the device has less than TransformMemory(len(text)).
func (t *Transformer) Transform(dst, text []byte, step int, starts []uint32) error {
	return t.TransformSampled(dst, text, step, starts, len(text)+1, nil)
}

// TransformSampled is Transform that also writes where the suffixes of the ranks every-1, 2*every-1, ... begin to samples.
func (t *Transformer) TransformSampled(dst, text []byte, step int, starts []uint32, every int, samples []uint32) error {
	n := len(text)
	if n == 0 || n > MaxTransform || len(dst) != n || step < 1 || len(starts) != (n+step-1)/step || every < 1 || len(samples) != n/every {
		return fmt.Errorf("a transform of %d bytes to %d, with %d starting points and %d samples", n, len(dst), len(starts), len(samples))
	}
	leave, err := t.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	var s suffixes
	if err := t.place(s.rooms(n, len(starts)), "sorting suffixes"); err != nil {
		return err
	}
	if err := t.upload(s.text, text, "text"); err != nil {
		return err
	}
	if err := t.sortKeys(&s); err != nil {
		return err
	}
	for {
		if err := t.divide(&s); err != nil {
			return err
		}
		if s.smalls+s.larges == 0 {
			break
		}
		if err := t.refine(&s); err != nil {
			return err
		}
	}
	if err := t.launch(kernelSuffixStarts, threadBlocks(len(starts), threads), s.ranks, uint64(step), uint64(len(starts)),
		s.starts); err != nil {
		return err
	}
	if err := t.download(bytesOf(starts), s.starts, "starting points"); err != nil {
		return err
	}
	if len(samples) > 0 {
		// All suffixes are in order, so the memory of the sort is free.
		if err := t.launch(kernelSuffixSamples, threadBlocks(n, threads), s.ranks, uint64(n), uint64(every), s.values[0]); err != nil {
			return err
		}
		if err := t.download(bytesOf(samples), s.values[0], "samples"); err != nil {
			return err
		}
	}
	return t.download(dst, s.transformed, "the transform")
}

// symbolCodes are the codes of the symbols of a text, as suffix_keys takes them.
type symbolCodes struct {
	numbers    [256]byte
	codes      []uint32
	rows       int // 0 if codes do not depend on the symbol before
	firstBits  int
	size       int
	candidates []byte // the symbols that occur
}

const maxCodeBits = 16

// chooseCodes makes the codes for a text of the symbols that are set in seen, of which pairs are samples.
func chooseCodes(seen *[8]uint32, pairs []uint32) *symbolCodes {
	c := &symbolCodes{}
	for b := range 256 {
		if seen[b>>5]>>(b&31)&1 == 1 {
			c.numbers[b] = byte(len(c.candidates))
			c.candidates = append(c.candidates, byte(b))
		}
	}
	c.size = len(c.candidates)
	c.firstBits = max(bits.Len(uint(c.size-1)), 1)
	switch {
	case c.size <= 4:
		for number := range c.size {
			c.codes = append(c.codes, uint32(number)|uint32(c.firstBits)<<16)
		}
	case c.size*c.size <= C.SUFFIX_CODES:
		c.rows = c.size
		for _, before := range c.candidates {
			c.codes = append(c.codes, c.row(pairs[int(before)<<8:][:256])...)
		}
	default:
		sum := make([]uint32, 256)
		for i, n := range pairs {
			sum[i&255] += n
		}
		c.codes = c.row(sum)
	}
	return c
}

// row returns the codes of all symbols, given how often they were counted.
func (c *symbolCodes) row(counts []uint32) []uint32 {
	total := uint64(0)
	for _, n := range counts {
		total += uint64(n)
	}
	weight, lengths := make([]uint64, c.size), make([]int, c.size)
	// A least weight for each symbol bounds the length of codes.
	for shift := 11; ; shift-- {
		for i, b := range c.candidates {
			weight[i] = uint64(counts[b]) + total>>shift + 1
		}
		alphabetic.Lengths(weight, lengths)
		longest := 0
		for _, l := range lengths {
			longest = max(longest, l)
		}
		if longest <= maxCodeBits {
			break
		}
	}
	codes := alphabetic.Codes(lengths)
	for i, l := range lengths {
		codes[i] |= uint32(l) << 16
	}
	return codes
}

// sortKeys sorts all suffixes by keys of their first symbols into the list of all.
func (t *Transformer) sortKeys(s *suffixes) error {
	n := uint64(s.size)
	if err := t.clear(s.seen, 32, "sets of symbols"); err != nil {
		return err
	}
	if err := t.clear(s.pairs, 4<<16, "counts of pairs"); err != nil {
		return err
	}
	every := uint64(max(s.size>>22, 1))
	if err := t.launch(kernelSuffixSymbols, s.tiles, s.text, n, every, s.seen, s.pairs); err != nil {
		return err
	}
	var seen [8]uint32
	pairs := make([]uint32, 1<<16)
	if err := t.download(bytesOf(seen[:]), s.seen, "sets of symbols"); err != nil {
		return err
	}
	if err := t.download(bytesOf(pairs), s.pairs, "counts of pairs"); err != nil {
		return err
	}
	c := chooseCodes(&seen, pairs)
	if err := t.upload(s.numbers, bytes.Clone(c.numbers[:]), "codes"); err != nil { // cgo wants memory without pointers
		return err
	}
	if err := t.upload(s.codes, bytesOf(c.codes), "codes"); err != nil {
		return err
	}
	lists := C.struct_SuffixLists{
		small_at: C.ulonglong(s.small.at), small_rank: C.ulonglong(s.small.rank), small_depth: C.ulonglong(s.small.depth),
		large_at: C.ulonglong(s.values[0]), large_group: C.ulonglong(s.group),
		bases: C.ulonglong(s.bases), depths: C.ulonglong(s.depths),
	}
	if err := t.upload(s.lists, bytesOf([]C.struct_SuffixLists{lists}), "lists"); err != nil {
		return err
	}
	// So many bits tell most suffixes of a random text apart.
	keyBits := min(max((2*bits.Len(uint(s.size))-8+7)/8*8, 16), 56)
	s.orderBits = bits.Len(uint(s.size + C.SUFFIX_PAD))
	err := t.launch(kernelSuffixKeys, s.tiles, s.text, n, s.numbers, s.codes, uint64(c.size), uint64(c.rows), uint64(c.firstBits),
		uint64(keyBits), s.keys[0])
	if err != nil {
		return err
	}
	in, err := t.radixSort(s, s.size, 64-keyBits, 64, false)
	if err != nil {
		return err
	}
	return t.listGroups(s, s.size, in, 64-keyBits, 0, s.all)
}

// radixSort sorts n keys and their values by the bits from low to high-1; the values are 0, 1, 2, ... unless they are given. It returns in
// which of the two arrays they are then. They are in the first before.
func (t *Transformer) radixSort(s *suffixes, n, low, high int, given bool) (in int, err error) {
	tiles := threadBlocks(n, C.SUFFIX_TILE)
	const digit = 8
	_ = [1]int{}[C.SUFFIX_DIGITS-1<<digit]
	for shift := low; shift < high; shift += digit {
		values := s.values[in]
		if shift == low && !given {
			values = 0
		}
		if err := t.launch(kernelSuffixCount, tiles, s.keys[in], uint64(n), uint64(shift), s.counts); err != nil {
			return 0, err
		}
		if err := t.scan(s.counts, C.SUFFIX_DIGITS*tiles); err != nil {
			return 0, err
		}
		err := t.launch(kernelSuffixScatter, tiles, s.keys[in], values, uint64(n), uint64(shift), s.counts, s.keys[1-in], s.values[1-in])
		if err != nil {
			return 0, err
		}
		in = 1 - in
	}
	return in, nil
}

// listGroups writes the list of n suffixes that are sorted by keys.
func (t *Transformer) listGroups(s *suffixes, n, in, shift, orderBits int, to suffixList) error {
	tiles := threadBlocks(n, C.SUFFIX_TILE)
	if err := t.launch(kernelSuffixHeads, tiles, s.keys[in], uint64(n), uint64(shift), s.heads); err != nil {
		return err
	}
	if err := t.launch(kernelSuffixCarry, 1, s.heads, uint64(tiles)); err != nil {
		return err
	}
	return t.launch(kernelSuffixGroups, tiles, s.keys[in], s.values[in], uint64(n), uint64(shift), uint64(orderBits), s.heads, s.bases,
		s.depths, s.ranks, uint64(s.size), to.at, to.rank, to.depth)
}

// divide divides the list of all suffixes that are not in order into small and large groups.
func (t *Transformer) divide(s *suffixes) error {
	n := s.smalls + s.larges
	if n == 0 {
		n = s.size
	}
	tiles := threadBlocks(n, C.SUFFIX_TILE)
	if err := t.launch(kernelSuffixDivideCount, tiles, s.all.rank, uint64(n), s.counts); err != nil {
		return err
	}
	if err := t.scan(s.counts, 3*tiles); err != nil {
		return err
	}
	err := t.launch(kernelSuffixDivide, tiles, s.all.at, s.all.rank, s.all.depth, uint64(n), s.counts, s.text, uint64(s.size),
		s.transformed, s.ranks, s.lists)
	if err != nil {
		return err
	}
	var large, groups [1]uint32
	if err := t.fetch(bytesOf(large[:]), s.counts+4*uint64(tiles), "sums"); err != nil {
		return err
	}
	if err := t.fetch(bytesOf(groups[:]), s.counts+8*uint64(tiles), "sums"); err != nil {
		return err
	}
	sum, err := t.sum()
	s.smalls, s.larges, s.groups = int(large[0]), int(groups[0]-large[0]), int(sum-groups[0])
	return err
}

// refine sorts the small and the large groups by the ranks of the suffixes that begin after what they have in common, into the list of all.
func (t *Transformer) refine(s *suffixes) error {
	err := t.launch(kernelSuffixSmall, threadBlocks(s.smalls, C.SUFFIX_GROUP_TILE), s.small.at, s.small.rank, s.small.depth,
		uint64(s.smalls), s.ranks, uint64(s.size), s.all.at, s.all.rank, s.all.depth)
	if err != nil || s.larges == 0 {
		return err
	}
	err = t.launch(kernelSuffixLargeKeys, threadBlocks(s.larges, threads), s.values[0], s.group, uint64(s.larges), s.depths, s.ranks,
		uint64(s.size), uint64(s.orderBits), s.keys[0])
	if err != nil {
		return err
	}
	in, err := t.radixSort(s, s.larges, 0, s.orderBits+bits.Len(uint(s.groups-1)), true)
	if err != nil {
		return err
	}
	skip := 4 * uint64(s.smalls)
	to := suffixList{s.all.at + skip, s.all.rank + skip, s.all.depth + skip}
	return t.listGroups(s, s.larges, in, 0, s.orderBits, to)
}
