package binning

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"
	"orcomgo/internal/codectest"
	"orcomgo/internal/testrun"

	"orcomgo/bins"
	"orcomgo/digest"
	"orcomgo/minimizer"
)

// binText takes a text through cutter and assigner, without files, and gives it back.
func binText(t testing.TB, text []byte, blockSize int, wrapped bool) ([]byte, error) {
	t.Helper()
	kind := record.FASTQ
	if len(text) > 0 && text[0] == '>' {
		kind, wrapped = record.FASTA, true
	}
	src := &source{path: "x", close: func() {}}
	var c cutter = &lineCutter{src: src, kind: kind, each: 4, blockSize: blockSize, left: text, eof: true}
	if wrapped && len(text) > 0 {
		c = newRecordCutter(src, kind, blockSize, 0, text, true)
	}
	a := NewCPU(Resources{Run: serial})
	var out []byte
	for first := uint64(0); ; {
		chunk, err := c.next(context.Background(), a)
		if err != nil {
			return nil, err
		}
		if chunk.FirstRecord != first {
			t.Fatalf("block begins with record %d, not %d", chunk.FirstRecord, first)
		}
		chunk.Keep = Keep{Names: true, Quals: true, Forms: true}
		var b bins.Block
		if err := a.Assign(context.Background(), &chunk.Text, &b); err != nil {
			return nil, err
		}
		if chunk.Canonical {
			b.Forms = chunk.forms
		}
		checkBlock(t, &b)
		checkSignatures(t, &b)
		part := render(t, &b, kind, &record.Options{})
		if uint64(len(part)) != chunk.textLen || !chunk.Canonical && !bytes.Equal(part, chunk.Data) ||
			chunk.Canonical && digest.TextHash(part, serial) != chunk.textHash {
			t.Fatalf("block %q became %q", chunk.Data, part)
		}
		// What the encoder makes of the form has to come back too.
		l, err := record.UnmarshalForms(record.MarshalForms(nil, &b.Forms), b.Records)
		if err != nil || !reflect.DeepEqual(l, b.Forms) {
			t.Fatalf("form %+v became %+v (%v)", b.Forms, l, err)
		}
		out = append(out, part...)
		first += uint64(b.Records)
		if chunk.Last {
			return out, nil
		}
		if b.Records == 0 {
			t.Fatal("a block of no records that is not the last")
		}
	}
}

// checkSignatures compares with the signatures of the letters.
func checkSignatures(t testing.TB, b *bins.Block) {
	t.Helper()
	seqs, err := b.AppendSequencesOf(nil, 0, b.Records)
	if err != nil {
		t.Fatal(err)
	}
	starts := make([]int, b.Records+1)
	for k := range b.Records {
		starts[k+1] = starts[k] + b.Lengths.Of(k)
	}
	at := 0
	for _, bin := range b.Bins {
		for _, k := range b.Order[at : at+int(bin.Reads)] {
			sig, pos, reverse := codectest.Signature(seqs[starts[k]:starts[k+1]])
			if place := b.Place[at]; sig != bin.Signature || pos != place>>1 || reverse != (place&1 != 0) {
				t.Fatalf("read %d: signature %s at %d, want %s at %d", k, minimizer.Letters(bin.Signature), place>>1, minimizer.Letters(sig), pos)
			}
			at++
		}
	}
}

// FuzzBlock: any text either comes back byte for byte, block by block, or is an error of
// one line that names a record; and blocks of any size agree on which.
func FuzzBlock(f *testing.F) {
	for _, tt := range roundTrips {
		if len(tt.text) < 1000 {
			f.Add([]byte(tt.text), 40)
		}
	}
	f.Add(simulate(1, 10, 30, 60, "1"), 300)
	f.Fuzz(func(t *testing.T, text []byte, blockSize int) {
		blockSize = int(uint(blockSize)%1000) + 10
		for _, wrapped := range []bool{false, true} {
			if wrapped && (len(text) == 0 || text[0] != '@') {
				continue
			}
			var failed [2]error
			for i, size := range []int{blockSize, 1 << 20} {
				got, err := binText(t, bytes.Clone(text), size, wrapped)
				if failed[i] = err; err == nil {
					if !bytes.Equal(got, text) {
						t.Fatalf("%q became %q", text, got)
					}
					continue
				}
				var r *RecordError
				if !errors.As(err, &r) || r.Record == 0 || strings.ContainsAny(err.Error(), "\n") {
					t.Fatalf("error is %q", err)
				}
			}
			if (failed[0] == nil) != (failed[1] == nil) {
				t.Fatalf("block size %d: %v, else %v", blockSize, failed[0], failed[1])
			}
		}
	})
}

func FuzzPack(f *testing.F) {
	f.Add([]byte("ACGTNacgtnURYKMSWBDHVurykmswbdhv.-*ACGTACGTACGTAAATTTGGGCCCATGCATGCATCGAT"))
	f.Fuzz(func(t *testing.T, seq []byte) {
		packed := make([]byte, bases.PackedLen(len(seq))+2*minimizer.Pad)
		exceptions, bad := packRead(packed, seq, 7, nil)
		first := -1
		for i, c := range seq {
			if !isLetter(c) {
				first = i
				break
			}
		}
		if (bad != 0) != (first >= 0) {
			t.Fatalf("bad is %d, the first bad letter at %d", bad, first)
		}
		if bad != 0 {
			return
		}
		rc := make([]byte, bases.PackedLen(len(seq)))
		bases.ReverseComplementInto(rc, packed, len(seq))
		for reversed, stored := range map[bool][]byte{false: packed, true: rc} {
			got := bases.AppendLetters(nil, stored, len(seq), reversed)
			for _, e := range exceptions {
				if err := record.ApplyException(got, e); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(got, seq) {
				t.Fatalf("%q became %q, reversed: %t", seq, got, reversed)
			}
		}
	})
}

// TestWords packs reads and copies text with and without room for whole words after them.
func TestWords(t *testing.T) {
	testrun.NoRace(t)
	text := []byte(strings.Repeat("ACGTTGCANacgtGGATCCA"+strings.Repeat("GATTACA", 10), 4))
	for n := range 200 {
		size := bases.PackedLen(n)
		for _, from := range []int{0, 20} {
			want := make([]byte, size)
			wantExceptions, _ := packPlain(want, text[from:][:n:n], 0, 7, nil)
			for _, room := range []int{40, 31, 20, 8, 7, 1, 0} {
				src := text[from:][: n : n+room]
				packed := bytes.Repeat([]byte{0xff}, size+room)
				exceptions, bad := packRead(packed, src, 7, nil)
				if bad != 0 {
					t.Fatalf("%d bases: bad byte %d", n, bad)
				}
				if !bytes.Equal(packed[:size], want) || !slices.Equal(exceptions, wantExceptions) {
					t.Errorf("%d bases, room for %d bytes: other bits", n, room)
				}
				if left := packed[min(size+8, len(packed)):]; len(bytes.Trim(left, "\xff")) > 0 {
					t.Errorf("%d bases, room for %d bytes: changed more than 8 bytes after them", n, room)
				}
				dst := bytes.Repeat([]byte{0xff}, n+room)
				copyBytes(dst, src)
				if !bytes.Equal(dst[:n], src) || len(bytes.Trim(dst[min(n+8, len(dst)):], "\xff")) > 0 {
					t.Errorf("copying %d bytes with room for %d gives %q", n, room, dst)
				}
			}
		}
	}
	// Each byte at each place.
	for n := 30; n < 100; n++ {
		for i := range n {
			for c := range 256 {
				src := bytes.Clone(text[20:][:n])
				src[i] = byte(c)
				want, packed := make([]byte, 32), make([]byte, 32)
				wantExceptions, wantBad := packPlain(want, src, 0, 7, nil)
				exceptions, bad := packRead(packed, src, 7, nil)
				if bad != wantBad || bad == 0 && (!bytes.Equal(packed, want) || !slices.Equal(exceptions, wantExceptions)) {
					t.Fatalf("byte %d at %d of %d: other bits", c, i, n)
				}
			}
		}
	}
}

func TestQuals(t *testing.T) {
	testrun.NoRace(t)
	for n := range 140 {
		src := bytes.Repeat([]byte{'I'}, n)
		dst := make([]byte, n)
		if !copyQuals(dst, src) || !bytes.Equal(dst, src) || !copyQuals(nil, src) {
			t.Fatalf("%d good ones", n)
		}
		for i := range src {
			for c := range 256 {
				src[i] = byte(c)
				good := c >= 33 && c <= 126
				if copyQuals(dst, src) != good || copyQuals(nil, src) != good || copyQualsPlain(dst, src) != good {
					t.Fatalf("byte %d at %d of %d", c, i, n)
				}
			}
			src[i] = 'I'
		}
	}
	for q, want := range map[int]int{0: 0, 1: 1, 2: 6, 9: 6, 10: 15, 19: 15, 20: 22, 24: 22, 25: 27, 29: 27, 30: 33, 34: 33,
		35: 37, 39: 37, 40: 40, 93: 40} {
		if got := int(bin8[33+q]) - 33; got != want {
			t.Errorf("quality %d becomes %d, want %d", q, got, want)
		}
	}
}
