package compress

import (
	"bytes"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"orcomgo/bins"
	"orcomgo/compress/archive"
)

// testColumns are names and qualities of a block in memory.
type testColumns struct{ names, quals []byte }

func (c *testColumns) NameMarks(_, every int) (marks []uint64, err error) {
	for at, i := 0, 0; at < len(c.names); i++ {
		if i%every == 0 {
			marks = append(marks, uint64(at))
		}
		at += bytes.IndexByte(c.names[at:], '\n') + 1
	}
	return append(marks, uint64(len(c.names))), nil
}

func (c *testColumns) ReadNames(_ int, from, to uint64, _ []byte) ([]byte, error) {
	return c.names[from:to], nil
}

func (c *testColumns) ReadQuals(_ int, from, to uint64, _ []byte) ([]byte, error) {
	return c.quals[from:to], nil
}

// testBlock makes a block of n records at first, of mixed or equal lengths, and what it holds.
func testBlock(rng *rand.Rand, first uint64, n int, varied bool, def bins.RecordLayout) (*loaded, []record) {
	columns := new(testColumns)
	l := &loaded{from: columns}
	var all []record
	l.FirstRecord, l.Records, l.Layout.Default = first, n, def
	if varied {
		l.Lengths = make([]uint32, n)
	} else {
		l.FixedLen = 7
	}
	for i := range n {
		if varied {
			l.Lengths[i] = uint32(rng.Intn(9))
		}
		name, letters, quals := fmt.Sprintf("r%d\n", first+uint64(i)), []byte{}, []byte{}
		packed := make([]byte, bins.PackedLen(l.Len(i)))
		for j := range l.Len(i) {
			base := rng.Intn(4)
			packed[j/4] |= byte(base) << (j % 4 * 2)
			letters = append(letters, "ACGT"[base])
			quals = append(quals, byte(33+rng.Intn(40)))
		}
		r := record{name: name, qual: string(quals)}
		if l.Len(i) > 0 && rng.Intn(5) == 0 {
			l.Exceptions = append(l.Exceptions, bins.Exception{Read: uint32(i), Len: 1, Byte: 'N'})
			letters[0], r.exceptions = 'N', fmt.Sprint(0, 1, 'N', " ")
		}
		r.seq = string(letters)
		columns.names, columns.quals = append(columns.names, name...), append(columns.quals, quals...)
		l.Order, l.Place, l.Packed = append(l.Order, uint32(i)), append(l.Place, 0), append(l.Packed, packed...)
		if rng.Intn(6) == 0 {
			l.Layout.Exceptions = append(l.Layout.Exceptions, bins.LayoutException{Read: uint32(i), RecordLayout: bins.RecordLayout{CR: 2, Plus: bins.PlusText, PlusText: fmt.Sprint(i)}})
		}
		r.layout = *l.Layout.Of(uint32(i))
		all = append(all, r)
	}
	l.mark(keeps{true, true, true})
	return l, all
}

// record is all there is of a record, for comparison.
type record struct {
	name, qual, seq string
	exceptions      string
	layout          bins.RecordLayout
}

func recordsOf(c *columns, letters []byte) []record {
	var rs []record
	names := strings.SplitAfter(string(c.names), "\n")
	at := 0
	for i := range c.records {
		n := int(c.fixed)
		if c.lengths != nil {
			n = int(c.lengths[i])
		}
		r := record{name: names[i], qual: string(c.quals[at : at+n]), layout: *c.layout.Of(uint32(i))}
		if letters != nil {
			r.seq = string(letters[at : at+n])
		}
		for _, e := range bins.ExceptionsOf(c.exceptions, uint32(i), uint32(i)+1) {
			r.exceptions += fmt.Sprint(e.Start, e.Len, e.Byte, " ")
		}
		rs = append(rs, r)
		at += n
	}
	return rs
}

func TestGather(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	k := keeps{true, true, true}
	crlf := bins.RecordLayout{CR: 15}
	for _, varied := range [][]bool{{false, false, false}, {true, true, true}, {false, true, false}} {
		var blocks []*loaded
		var all []record
		for i, n := range []int{5000, 9000, 3} {
			def := bins.RecordLayout{}
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
			var bs []*loaded
			for _, b := range blocks {
				if int(b.FirstRecord) < from+n && int(b.FirstRecord)+b.Records > from {
					bs = append(bs, b)
				}
			}
			c, letters, err := gather(0, uint64(from), n, bs, k, true)
			if err != nil {
				t.Fatal(err)
			}
			if got := recordsOf(c, letters); !reflect.DeepEqual(got, all[from:from+n]) {
				t.Fatalf("varied %v: records %d+%d differ", varied, from, n)
			}
			perm := make([]uint32, n)
			for i, p := range rng.Perm(n) {
				perm[i] = uint32(p)
			}
			c.permute(perm)
			got := recordsOf(c, nil)
			for i, p := range perm {
				want := all[from+int(p)]
				want.seq = ""
				if !reflect.DeepEqual(got[i], want) {
					t.Fatalf("varied %v: record %d permuted is %+v, want %+v", varied, p, got[i], want)
				}
			}
		}
	}
}

func TestPermuteDropsFileEnd(t *testing.T) {
	c := &columns{records: 2, fixed: 1, names: []byte("a\nb\n"), quals: []byte("!#")}
	c.layout.Exceptions = []bins.LayoutException{{Read: 1, RecordLayout: bins.RecordLayout{NoNewline: true, Tail: "\n"}}}
	c.permute([]uint32{1, 0})
	if !c.layout.IsDefault() {
		t.Errorf("layout %+v", c.layout)
	}
	if string(c.names) != "b\na\n" || string(c.quals) != "#!" {
		t.Errorf("names %q, qualities %q", c.names, c.quals)
	}
}

func TestLayoutColumn(t *testing.T) {
	many := bins.Layout{Default: bins.RecordLayout{Plus: bins.PlusText, PlusText: "d"}}
	for i := range uint32(1000) {
		many.Exceptions = append(many.Exceptions, bins.LayoutException{Read: i, RecordLayout: bins.RecordLayout{Plus: bins.PlusText, PlusText: fmt.Sprintf("x.%d", i)}})
	}
	cases := map[string]bins.Layout{
		"plain":   {},
		"CRLF":    {Default: bins.RecordLayout{CR: 15}},
		"no end":  {Exceptions: []bins.LayoutException{{Read: 999, RecordLayout: bins.RecordLayout{NoNewline: true}}}},
		"wrapped": {Default: bins.RecordLayout{SeqWidth: 60, QualWidth: 60}},
		"lines": {Exceptions: []bins.LayoutException{{Read: 3, RecordLayout: bins.RecordLayout{SeqLines: []uint32{6, 0, 9}, QualLines: []uint32{}}},
			{Read: 4, RecordLayout: bins.RecordLayout{Tail: "\n\r\n"}}}},
		"texts": many,
	}
	for name, l := range cases {
		data := encodeLayout(&l)
		if (name == "plain") != (len(data) == 0) {
			t.Errorf("%s: %d bytes", name, len(data))
		}
		got, err := decodeLayout(data, 1000)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(bins.MarshalLayout(nil, &got), bins.MarshalLayout(nil, &l)) {
			t.Errorf("%s: came back as %+v", name, got)
		}
	}
	if n := len(encodeLayout(&many)); n > 400 {
		t.Errorf("1000 numbered texts take %d bytes", n)
	}
}

func FuzzDecodeLayout(f *testing.F) {
	f.Add([]byte(nil), 10)
	for _, l := range []bins.Layout{
		{Default: bins.RecordLayout{Plus: bins.PlusText, PlusText: "x"}},
		{Default: bins.RecordLayout{CR: 15, SeqWidth: 60, QualLines: []uint32{1, 2}}, Exceptions: []bins.LayoutException{{Read: 2, RecordLayout: bins.RecordLayout{Plus: bins.PlusText, PlusText: "abc"}}}},
	} {
		f.Add(encodeLayout(&l), 10)
	}
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if n < 0 || n > 1<<20 {
			return
		}
		l, err := decodeLayout(data, n)
		if err != nil {
			return
		}
		again, err := decodeLayout(encodeLayout(&l), n)
		if err != nil || !bytes.Equal(bins.MarshalLayout(nil, &again), bins.MarshalLayout(nil, &l)) {
			t.Fatalf("written again: %v", err)
		}
	})
}

func TestTextCheck(t *testing.T) {
	text := []byte("the text of an input, which is hashed in blocks")
	blocks := blocksOfText(text, 0, 10, 10, 30)
	feed := func(text []byte, step int) error {
		c := newTextCheck("x", blocks, true)
		for len(text) > 0 {
			n := min(step, len(text))
			if err := c.add(text[:n]); err != nil {
				return err
			}
			text = text[n:]
		}
		return c.end(nil)
	}
	for step := 1; step <= len(text)+1; step++ {
		if err := feed(text, step); err != nil {
			t.Fatalf("steps of %d: %v", step, err)
		}
		for _, bad := range [][]byte{text[1:], text[:len(text)-1], append(bytes.Clone(text), 'x'), bytes.Replace(text, []byte("hashed"), []byte("Hashed"), 1), nil} {
			if err := feed(bad, step); err == nil {
				t.Fatalf("steps of %d: %q passed", step, bad)
			}
		}
	}
	c := newTextCheck("x", nil, true)
	if err := c.add(text); err != nil {
		t.Fatal(err)
	}
	var other [32]byte
	if err := c.end(&other); err == nil {
		t.Error("a wrong SHA-256 passed")
	}
}

// blocksOfText cuts text at the offsets given, the last block taking the rest.
func blocksOfText(text []byte, cuts ...int) []archive.TextBlock {
	var bs []archive.TextBlock
	at := 0
	for _, cut := range append(cuts, len(text)) {
		bs = append(bs, archive.TextBlock{Len: uint64(cut - at), Hash: xxh3.Hash128(text[at:cut]).Bytes()})
		at = cut
	}
	return bs
}
