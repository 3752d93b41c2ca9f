package columns

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// testColumns are names and qualities of a block in memory.
type testColumns struct {
	names, quals []byte
	exceptions   record.ExceptionList
}

func (c *testColumns) NameMarks(_, every int) (marks []uint64, err error) {
	for at, i := 0, 0; at < len(c.names); i++ {
		if i%every == 0 {
			marks = append(marks, uint64(at))
		}
		at += bytes.IndexByte(c.names[at:], '\n') + 1
	}
	return append(marks, uint64(len(c.names))), nil
}

func (c *testColumns) ReadNames(_ int, from, to uint64, dst []byte) ([]byte, error) {
	return inRoom(dst, c.names[from:to])
}

func (c *testColumns) ReadQuals(_ int, from, to uint64, dst []byte) ([]byte, error) {
	return inRoom(dst, c.quals[from:to])
}

// inRoom copies p to dst, which must have room: growing a column takes memory for two of it.
func inRoom(dst, p []byte) ([]byte, error) {
	if cap(dst) < len(p) {
		return nil, fmt.Errorf("room for %d bytes of %d", cap(dst), len(p))
	}
	return append(dst[:0], p...), nil
}

func (c *testColumns) ExceptionMarks(_, every int, _ *record.Lengths) (marks []bins.ExceptionMark, err error) {
	for i := range 100 { // each read's exceptions are found by the number of its mark
		marks = append(marks, bins.ExceptionMark{At: uint64(i * every)})
	}
	return marks, nil
}

func (c *testColumns) ReadExceptions(_ int, from, to bins.ExceptionMark, _ *record.Lengths, f func(e record.Exception) error) error {
	for e := range c.exceptions.All {
		if uint64(e.Read) >= from.At && uint64(e.Read) < to.At {
			if err := f(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// testBlock makes a block of n records at first, of mixed or equal lengths, and what it holds.
func testBlock(rng *rand.Rand, first uint64, n int, varied bool, def record.Form) (*Block, []textRecord) {
	columns := new(testColumns)
	l := &Block{letters: true, From: columns}
	var all []textRecord
	l.FirstRecord, l.Records, l.Forms.Default = first, n, def
	if varied {
		l.Lengths.Each = make([]uint32, n)
	} else {
		l.Lengths.Fixed = 7
	}
	for i := range n {
		if varied {
			l.Lengths.Each[i] = uint32(rng.Intn(9))
		}
		name, letters, quals := fmt.Sprintf("r%d\n", first+uint64(i)), []byte{}, []byte{}
		packed := make([]byte, bases.PackedLen(l.Lengths.Of(i)))
		for j := range l.Lengths.Of(i) {
			base := rng.Intn(4)
			packed[j/4] |= byte(base) << (j % 4 * 2)
			letters = append(letters, "ACGT"[base])
			quals = append(quals, byte(33+rng.Intn(40)))
		}
		r := textRecord{name: name, qual: string(quals)}
		if l.Lengths.Of(i) > 0 && rng.Intn(5) == 0 {
			columns.exceptions.Append(record.Exception{Read: uint32(i), Len: 1, Byte: 'N'})
			letters[0], r.exceptions = 'N', fmt.Sprint(0, 1, 'N', " ")
		}
		r.seq = string(letters)
		columns.names, columns.quals = append(columns.names, name...), append(columns.quals, quals...)
		l.Order, l.Place, l.Packed = append(l.Order, uint32(i)), append(l.Place, 0), append(l.Packed, packed...)
		if rng.Intn(6) == 0 {
			form := record.Form{CR: 2, Plus: record.PlusText, PlusText: fmt.Sprint(i)}
			l.Forms.Exceptions = append(l.Forms.Exceptions, record.FormException{Read: uint32(i), Form: &form})
		}
		r.form = *l.Forms.Of(uint32(i))
		all = append(all, r)
	}
	l.Mark(KeptOf(record.Options{}, record.FASTQ))
	return l, all
}

// textRecord is all there is of a record, for comparison.
type textRecord struct {
	name, qual, seq string
	exceptions      string
	form            record.Form
}

func recordsOf(c *Columns) []textRecord {
	var rs []textRecord
	names := strings.SplitAfter(string(c.Names), "\n")
	at := 0
	for i := range c.Records {
		n := c.Lengths.Of(i)
		r := textRecord{name: names[i], qual: string(c.Quals[at : at+n]), form: *c.Forms.Of(uint32(i))}
		if c.Letters != nil {
			r.seq = string(c.Letters[at : at+n])
		}
		for _, e := range c.Exceptions.Of(nil, uint32(i)) {
			r.exceptions += fmt.Sprint(e.Start, e.Len, e.Byte, " ")
		}
		rs = append(rs, r)
		at += n
	}
	return rs
}

func TestGather(t *testing.T) {
	testrun.NoRace(t)
	rng := rand.New(rand.NewSource(2))
	k := KeptOf(record.Options{}, record.FASTQ)
	crlf := record.Form{CR: 15}
	for _, varied := range [][]bool{{false, false, false}, {true, true, true}, {false, true, false}} {
		var blocks []*Block
		var all []textRecord
		for i, n := range []int{5000, 9000, 3} {
			def := record.Form{}
			if i == 1 {
				def = crlf
			}
			b, records := testBlock(rng, uint64(len(all)), n, varied[i], def)
			blocks = append(blocks, b)
			all = append(all, records...)
		}
		for range 40 {
			from := rng.Intn(len(all))
			n := 1 + rng.Intn(len(all)-from)
			var bs []*Block
			for _, b := range blocks {
				if int(b.FirstRecord) < from+n && int(b.FirstRecord)+b.Records > from {
					bs = append(bs, b)
				}
			}
			letters := rng.Intn(2) == 0
			for _, b := range bs {
				b.letters = letters
			}
			all := slices.Clone(all)
			for i := range all {
				if letters {
					all[i].exceptions = ""
				} else {
					all[i].seq = ""
				}
			}
			c, err := Gather(0, uint64(from), n, bs, k)
			if err != nil {
				t.Fatal(err)
			}
			if got := recordsOf(c); !reflect.DeepEqual(got, all[from:from+n]) {
				t.Fatalf("varied %v: records %d+%d differ", varied, from, n)
			}
			perm := make([]uint32, n)
			for i, p := range rng.Perm(n) {
				perm[i] = uint32(p)
			}
			c.Permute(perm)
			got := recordsOf(c)
			for i, p := range perm {
				want := all[from+int(p)]
				if !reflect.DeepEqual(got[i], want) {
					t.Fatalf("varied %v: record %d permuted is %+v, want %+v", varied, p, got[i], want)
				}
			}
		}
	}
}

// TestRenderPieces: pieces are the text, and of at least so many bytes.
func TestRenderPieces(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	b, _ := testBlock(rng, 0, 300, true, record.Form{})
	c, err := Gather(0, 0, b.Records, []*Block{b}, KeptOf(record.Options{}, record.FASTQ))
	if err != nil {
		t.Fatal(err)
	}
	ends := make([]int, c.Records)
	want, err := Render(nil, record.AsRecords, record.FASTQ, c, ends)
	if err != nil {
		t.Fatal(err)
	}
	for _, least := range []int{1, 50, 1000, len(want), 2 * len(want)} {
		var got []byte
		next := func(piece []byte) ([]byte, error) {
			if len(piece) < least {
				t.Errorf("a piece has %d bytes, not %d", len(piece), least)
			}
			got = append(got, piece...)
			return piece[:0], nil
		}
		endsOf := make([]int, c.Records)
		last, err := RenderPieces(nil, record.AsRecords, record.FASTQ, c, endsOf, least, next)
		if got = append(got, last...); err != nil || !bytes.Equal(got, want) || !slices.Equal(endsOf, ends) {
			t.Errorf("pieces of %d bytes are another text, %v", least, err)
		}
		failed := errors.New("failed")
		_, err = RenderPieces(nil, record.AsRecords, record.FASTQ, c, nil, least, func([]byte) ([]byte, error) { return nil, failed })
		if least <= len(want) && err != failed {
			t.Errorf("error %v", err)
		}
	}
}

// TestHalves: the mates of an interleaved input are every second record each, and come back in turn.
func TestHalves(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	k := KeptOf(record.Options{}, record.FASTQ)
	for _, varied := range [][]bool{{false, false}, {true, true}, {false, true}} {
		first, _ := testBlock(rng, 0, 400, varied[0], record.Form{})
		second, _ := testBlock(rng, 400, 600, varied[1], record.Form{CR: 15})
		c, err := Gather(0, 100, 800, []*Block{first, second}, k)
		if err != nil {
			t.Fatal(err)
		}
		want := recordsOf(c)
		for i := range want {
			want[i].exceptions = ""
		}
		halves := Halves(c)
		for m, h := range halves {
			got := recordsOf(h)
			for i := range got {
				if !reflect.DeepEqual(got[i], want[2*i+m]) {
					t.Fatalf("varied %v: record %d of half %d is %+v, want %+v", varied, i, m, got[i], want[2*i+m])
				}
			}
			if r := h.Reads(); len(got) != 400 || h.From != 100 || r.Second != (m == 1) {
				t.Errorf("half %d has %d records from %d, of %+v", m, len(got), h.From, r)
			}
		}
		back := FromHalves(halves)
		if !reflect.DeepEqual(recordsOf(back), want) || back.From != 100 || !reflect.DeepEqual(back.Forms, c.Forms) {
			t.Errorf("varied %v: other records come back", varied)
		}
		// Forms may have been stored so that the defaults differ.
		halves[1].Forms = record.Forms{Default: record.Form{CR: 1}}
		back = FromHalves(halves)
		for i := range 800 {
			form := want[i].form
			if i%2 == 1 {
				form = record.Form{CR: 1}
			}
			if got := back.Forms.Of(uint32(i)); !got.Equal(&form) {
				t.Fatalf("record %d has the form %+v, want %+v", i, got, form)
			}
		}
	}
}

func TestPermuteDropsFileEnd(t *testing.T) {
	c := &Columns{Records: 2, Lengths: record.Lengths{Fixed: 1}, Names: []byte("a\nb\n"), Quals: []byte("!#")}
	c.Forms.Exceptions = []record.FormException{{Read: 1, Form: &record.Form{NoNewline: true, Tail: "\n"}}}
	c.Permute([]uint32{1, 0})
	if !c.Forms.IsDefault() {
		t.Errorf("form %+v", c.Forms)
	}
	if string(c.Names) != "b\na\n" || string(c.Quals) != "#!" {
		t.Errorf("names %q, qualities %q", c.Names, c.Quals)
	}
}
