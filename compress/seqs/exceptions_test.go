package seqs

import (
	"bytes"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins/record"
)

// exceptionsColumn is a column of reads, with qualities unless quals is empty.
func exceptionsColumn(quals string, reads ...string) *Column {
	c := &Column{Records: len(reads), Lengths: record.Lengths{Each: []uint32{}}}
	for i, read := range reads {
		c.Lengths.Each = append(c.Lengths.Each, uint32(len(read)))
		appendExceptions(&c.Exceptions, read, uint32(i))
	}
	if quals != "" {
		c.Quals = []byte(quals)
	}
	return c
}

// codedExceptions codes the exceptions of a column, decodes them, and returns the bytes and how they were coded.
func codedExceptions(t *testing.T, name string, col *Column) (data []byte, mode uint32) {
	t.Helper()
	c := encodeTo(nil)
	newExceptionCoder().code(c, col)
	data = c.Enc.Finish()
	blank := *col
	blank.Exceptions = record.ExceptionList{}
	got, ok := newExceptionCoder().code(decodeFrom(data), &blank)
	if !ok || !bytes.Equal(got.Data(), col.Exceptions.Data()) {
		t.Fatalf("%s: decoded %v, %v, want %v", name, got, ok, col.Exceptions)
	}
	return data, decodeFrom(data).Uniform(0, 2)
}

// TestExceptionsRoundTrip: exceptions come back, next to each other and at all ends of reads, and N is coded under quality values exactly
// where that is worth it.
func TestExceptionsRoundTrip(t *testing.T) {
	q := func(n int) string { return strings.Repeat("I", n) }
	for _, c := range []struct {
		name  string
		quals string
		reads []string
		mode  uint32
	}{
		{"none", "", []string{"ACGT", "", "A"}, noExceptions},
		{"no reads", "", nil, noExceptions},
		{"none, with qualities", "IIIII", []string{"ACGT", "", "A"}, noExceptions},
		{"ends of reads, no qualities", "", []string{"NCGN", "", "N", "NNNN", "", "ACGN"}, listed},
		{"ends of reads", "#II#" + "#" + "####" + "III#", []string{"NCGN", "", "N", "NNNN", "", "ACGN"}, listedAndN},
		{"N next to others", q(24), []string{"NRYNNacgtNAn", "RNRnnNNacNtR"}, listedAndN},
		{"no N", q(10), []string{"ACRYacGT--"}, listed},
		{"lower case alone", q(8), []string{"acgt", "ACgT"}, listed},
		{"N where a base of that value is as likely", "##I##I", []string{"NAC", "TNG"}, listedAndN},
		{"an N among 128 of its value", q(128), []string{strings.Repeat("A", 127) + "N"}, listed},
		{"an N among 127 of its value", q(127), []string{strings.Repeat("A", 126) + "N"}, listedAndN},
		{"many values", "!\"#$%&'()~", []string{"NNNNNNNNNN"}, listedAndN},
	} {
		if _, mode := codedExceptions(t, c.name, exceptionsColumn(c.quals, c.reads...)); mode != c.mode {
			t.Errorf("%s: coded in way %d, want %d", c.name, mode, c.mode)
		}
	}
	r := rand.New(rand.NewSource(110))
	for range 200 {
		var reads []string
		var quals []byte
		for range r.Intn(40) {
			b := make([]byte, r.Intn(30))
			for j := range b {
				b[j] = "ACGTACGTACGTNNacRgn"[r.Intn(19)]
				quals = append(quals, "#'I"[r.Intn(3)])
			}
			reads = append(reads, string(b))
		}
		col := exceptionsColumn("", reads...)
		codedExceptions(t, "random", col)
		if col.Quals = quals; quals == nil {
			col.Quals = []byte{}
		}
		codedExceptions(t, "random", col)
	}
	col := exceptionsColumn("", "NACG", "ACGT", "ANNT")
	col.Lengths.Each, col.Lengths.Fixed = nil, 4
	codedExceptions(t, "one length", col)
}

// TestExceptionsCost: N costs almost nothing where the qualities predict it; otherwise a run costs as much as its position does.
func TestExceptionsCost(t *testing.T) {
	r := rand.New(rand.NewSource(111))
	var reads []string
	var quals []byte
	runs := 0
	for range 2000 {
		b := []byte(strings.Repeat("A", 100))
		q := []byte(strings.Repeat("I", 100))
		if r.Intn(4) == 0 {
			runs++
			from := r.Intn(90)
			for j := from; j < from+10; j++ {
				b[j], q[j] = 'N', '#'
			}
		}
		reads, quals = append(reads, string(b)), append(quals, q...)
	}
	data, _ := codedExceptions(t, "with qualities", exceptionsColumn(string(quals), reads...))
	if len(data) > 60 {
		t.Errorf("%d runs of N that the qualities predict take %d bytes", runs, len(data))
	}
	data, _ = codedExceptions(t, "without", exceptionsColumn("", reads...))
	// Seven bits for the place in the read, two or three for the step from read to read.
	if got := 8 * float64(len(data)) / float64(runs); got > 10.5 || got < 8 {
		t.Errorf("%d runs of N take %.2f bits each", runs, got)
	}
}

// TestDamagedExceptions: exceptions that a column has no reads or bases for are refused, and so is N by quality without qualities.
func TestDamagedExceptions(t *testing.T) {
	full := exceptionsColumn("", "ACGTN", "ACGTACGT", "NNACGTRR")
	data, _ := codedExceptions(t, "whole", full)
	for _, c := range []struct {
		name    string
		records int
		lengths []uint32
	}{{"fewer reads", 2, []uint32{5, 8}}, {"a shorter read", 3, []uint32{5, 8, 7}}, {"an empty read", 3, []uint32{0, 8, 8}}} {
		if _, ok := newExceptionCoder().code(decodeFrom(data), &Column{Records: c.records, Lengths: record.Lengths{Each: c.lengths}}); ok {
			t.Errorf("%s: taken", c.name)
		}
	}
	withQuals := exceptionsColumn("####I", "NNNNA")
	if data, _ = codedExceptions(t, "with qualities", withQuals); data == nil {
		t.Fatal("no bytes")
	}
	if _, ok := newExceptionCoder().code(decodeFrom(data), &Column{Records: 1, Lengths: record.Lengths{Each: []uint32{5}}}); ok {
		t.Error("N by quality is taken without qualities")
	}
}

// TestNonACGT: asked read after read, of which some are left out, the bases without a value of their own are those with an exception
// other than lower case.
func TestNonACGT(t *testing.T) {
	reads := []string{"ACGT", "NacT", "ACgt", "RRNN", "", "NNNN", "aNNa"}
	col := exceptionsColumn("", reads...)
	for left := range 1 << len(reads) {
		o := nonACGTOf(&col.Exceptions)
		for i, read := range reads {
			if left>>i&1 != 0 {
				continue
			}
			skip := o.of(i, len(read))
			for j, c := range []byte(read) {
				if want := strings.IndexByte("ACGTacgt", c) < 0; want != (skip != nil && skip[j]) {
					t.Fatalf("base %d of %s, left out %b: no value of its own: %v, want %v", j, read, left, !want, want)
				}
			}
			if skip != nil && !slices.Contains(skip, true) {
				t.Fatalf("%s has a list that is empty", read)
			}
		}
	}
}

// TestFinder: qualities with one value, several or none are found, also with the highest bit.
func TestFinder(t *testing.T) {
	for _, c := range []struct {
		values, quals string
		want          []int
	}{
		{"#", "#FF#F#", []int{0, 3, 5}}, {"#", "FFF", nil}, {"#", "", nil},
		{"#", "F\xa3#", []int{1, 2}}, {"#,", "F,#\xac", []int{1, 2, 3}}, {"", "F#", nil},
	} {
		var values [128]bool
		for _, v := range []byte(c.values) {
			values[v] = true
		}
		f := finderOf(&values)
		var got []int
		for i := f.next([]byte(c.quals), 0); i < len(c.quals); i = f.next([]byte(c.quals), i+1) {
			got = append(got, i)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("values %q in %q: found at %v, want %v", c.values, c.quals, got, c.want)
		}
	}
}
