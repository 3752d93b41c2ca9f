package bins

import (
	"bytes"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orcomgo/bins/commit"
)

// codedColumns returns the names and qualities of a block as EncodeBlock coded them.
func codedColumns(t *testing.T, b *Block) (names, quals *Coded) {
	t.Helper()
	var columns [2]*Coded
	for i, column := range [][]byte{b.Names, b.Quals} {
		encode := []func(c *coder, chunk []byte) ([]byte, uint8){(*coder).encodeNames, (*coder).encodeQuals}[i]
		coded := &Coded{Raw: uint64(len(column))}
		for at := 0; at < len(column); at += chunkSize {
			chunk, method := encode(new(coder), bytes.Clone(column[at:min(at+chunkSize, len(column))]))
			coded.Data = append(coded.Data, chunk...)
			coded.Methods, coded.Ends = append(coded.Methods, method), append(coded.Ends, uint64(len(coded.Data)))
		}
		columns[i] = coded
	}
	return columns[0], columns[1]
}

// TestCoded: names and qualities that come coded give the same files as those that EncodeBlock codes.
func TestCoded(t *testing.T) {
	rng := rand.New(rand.NewSource(8))
	blocks := []*Block{}
	records := uint64(0)
	for _, n := range []int{40000, 3, 0, 80000} {
		b, _ := sample(rng, 1, records, n, n == 3)
		b.Input = 0
		records += uint64(n)
		blocks = append(blocks, b)
	}
	files := func(coded bool) (data, meta []byte) {
		dir := t.TempDir()
		w, err := Create(dir, "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		var e Encoded
		for _, b := range blocks {
			b := clone(b)
			if coded {
				b.CodedNames, b.CodedQuals = codedColumns(t, b)
				b.Names, b.Quals = nil, nil
			}
			if err := EncodeBlock(&e, b, side(2)); err != nil {
				t.Fatal(err)
			}
			if err := writeBlock(w, &e); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(sampleOptions, sampleInputs()[:1]); err != nil {
			t.Fatal(err)
		}
		for _, f := range []struct {
			ext string
			to  *[]byte
		}{{commit.BinsDataExt, &data}, {commit.BinsMetaExt, &meta}} {
			if *f.to, err = os.ReadFile(filepath.Join(dir, "a"+f.ext)); err != nil {
				t.Fatal(err)
			}
		}
		return data, meta
	}
	data, meta := files(false)
	data2, meta2 := files(true)
	if !bytes.Equal(data, data2) || !bytes.Equal(meta, meta2) {
		t.Error("the files differ")
	}
}

// TestCodedWrong: chunks that no reader would accept are refused.
func TestCodedWrong(t *testing.T) {
	b, _ := sample(rand.New(rand.NewSource(9)), 1, 0, 80000, false)
	for name, spoil := range map[string]func(names, quals *Coded){
		"fewer qualities":       func(_, quals *Coded) { quals.Raw-- },
		"a chunk too few":       func(names, _ *Coded) { names.Methods = names.Methods[:1] },
		"an end too few":        func(names, _ *Coded) { names.Ends = names.Ends[:1] },
		"bytes left over":       func(names, _ *Coded) { names.Data = append(names.Data, 0) },
		"ends that go back":     func(_, quals *Coded) { quals.Ends[0] = quals.Ends[1] + 1 },
		"an empty chunk":        func(_, quals *Coded) { quals.Ends[0] = 0 },
		"a method of qualities": func(names, _ *Coded) { names.Methods[0] = chunkSame },
		"an unknown method":     func(names, _ *Coded) { names.Methods[0] = 3 },
		"a raw chunk too short": func(names, _ *Coded) { names.Methods[0] = chunkRaw },
	} {
		coded := clone(b)
		coded.CodedNames, coded.CodedQuals = codedColumns(t, b)
		if err := EncodeBlock(new(Encoded), coded, side(1)); err != nil {
			t.Fatal(err)
		}
		spoil(coded.CodedNames, coded.CodedQuals)
		if err := EncodeBlock(new(Encoded), coded, side(1)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestJoined: pieces that follow one another in memory become one; others stay as they are, and the bytes are the same.
func TestJoined(t *testing.T) {
	a, b := []byte("0123456789"), []byte("abc")
	for _, c := range []struct {
		pieces [][]byte
		want   []string
	}{
		{[][]byte{a[:3], a[3:5], a[5:]}, []string{"0123456789"}},
		{[][]byte{a[:3], nil, a[3:5], b, a[5:]}, []string{"01234", "abc", "56789"}},
		{[][]byte{a[:3:3], a[3:5], a[6:]}, []string{"012", "34", "6789"}},
		{[][]byte{nil, a[:3], a[2:5], b[3:], b[:2], b[2:]}, []string{"", "012", "234", "abc"}},
		{[][]byte{nil}, []string{""}},
		{[][]byte{a, b}, []string{"0123456789", "abc"}},
	} {
		var got []string
		for pieces := c.pieces; len(pieces) > 0; {
			var first []byte
			first, pieces = joined(pieces)
			got = append(got, string(first))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.pieces, got, c.want)
		}
	}
}
