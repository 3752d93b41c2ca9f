package fmindex

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

// TestDamage: whatever byte is changed, and wherever the file is cut, that is an error.
func TestDamage(t *testing.T) {
	l := new(Literals)
	l.Add([]byte{1, 2, 3})
	l.EndSlice()
	file := fileOf(t, draw(rand.New(rand.NewPCG(0, 7)), 700), l, 1)
	for i := range file {
		bad := slices.Clone(file)
		bad[i] ^= 1 << (i % 8)
		x, err := openFile(bad)
		if !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d changed: %v, %v", i, x, err)
		}
		if _, err := openFile(file[:i]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut after %d bytes: %v", i, err)
		}
	}
	if _, err := openFile(append(slices.Clone(file), 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte more: %v", err)
	}
}

// sealed returns a file with the right checksums.
func sealed(file []byte) []byte {
	x, s, err := parseHeader(file)
	if err != nil || x.mainLen > uint64(len(file)) {
		return file
	}
	x.file = file[:x.mainLen]
	x.cut(s)
	from := uint64(0)
	for i := 0; i < len(x.table); i += tableBytes {
		if to := x.blockEnd(i / tableBytes); from <= to && to <= uint64(len(file)-len(x.file)) {
			binary.LittleEndian.PutUint64(x.table[i+8:], xxh3.Hash(file[len(x.file):][from:to]))
			from = to
		}
	}
	sum := xxh3.Hash128(x.rankBytes()).Bytes()
	copy(file[rankHashAt:], sum[:])
	sum = x.hash()
	copy(file[hashAt:], sum[:])
	return file
}

// TestForged: files with the right checksum, in which something else is wrong, are refused.
func TestForged(t *testing.T) {
	file := fileOf(t, draw(rand.New(rand.NewPCG(0, 8)), 700), nil, 1)
	x, s, err := parseHeader(file)
	if err != nil {
		t.Fatal(err)
	}
	ranks := x.least(s)
	number := func(i int, v uint64) func(b []byte) {
		return func(b []byte) { binary.LittleEndian.PutUint64(b[numbersAt+8*i:], v) }
	}
	for name, c := range map[string]struct {
		forge func(b []byte)
		want  string
	}{
		"version":   {func(b []byte) { b[8] = 2 }, "version 2"},
		"bases":     {number(numBases, 701), "literal bases"},
		"genome":    {number(numGenome, 701), "701 of the pseudogenome"},
		"first":     {number(numFirst, 0), "row 0"},
		"reads":     {number(numSpan, 701), "reads of 701"},
		"slices":    {number(numSlices, 1<<60), "not what its header says"},
		"lengths":   {number(numLengths, 1), "not what its header says"},
		"counts":    {func(b []byte) { b[ranks+blockBytes]++ }, "block 1"},
		"transform": {func(b []byte) { b[ranks+lowAt] ^= 1 }, "block 1"},
	} {
		bad := slices.Clone(file)
		c.forge(bad)
		if _, err := openFile(sealed(bad)); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzOpen: forged files are refused, or give some answer, in bounded time and memory.
func FuzzOpen(f *testing.F) {
	r := rand.New(rand.NewPCG(0, 9))
	for _, n := range []int{0, 1, 64, 300} {
		l := new(Literals)
		l.Add(draw(r, 10))
		l.EndSlice()
		f.Add(fileOf(f, draw(r, n), l, 1))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := openFile(sealed(file))
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		rows := make([]Rows, 1)
		x.FindAll([][]byte{{1, 2}}, rows)
		x.Near([]byte{1, 2, 3, 0, 1}, 2, func(r Rows) bool {
			rows[0] = r
			return true
		})
		places := rows[0].Append(nil, 20)
		err = x.Locate(places)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
		for _, at := range places {
			if err != nil {
				break
			}
			x.Whole(int(at), 2)
			x.Depth(int(at), int(at)+2)
		}
		if list, err := x.SlicesOver([]Stretch{{0, 10}}, 1); err == nil && len(list) > x.Slices() || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Error(list, err)
		}
		text, err := x.AppendText(nil, 0, x.Chunks())
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
		least, _, _ := MainLen(file)
		if x, err = Open(file[:least], bytes.NewReader(file), int64(len(file))); err != nil {
			t.Error(err)
		}
		x.GenomeBases = func(dst []byte, from, to int) ([]byte, error) { return append(dst, make([]byte, to-from)...), nil }
		if other, err := x.AppendText(nil, 0, x.Chunks()); err == nil && text != nil && len(other) != len(text) {
			t.Errorf("%d bases without ranks, and %d", len(other), len(text))
		}
	})
}
