package bins

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
)

// TestVersion1 reads ranges of names and qualities from bins of version 1, whose qualities take two chunks of its size. The records are
// made by the formula here.
func TestVersion1(t *testing.T) {
	const records, length = 1500, 100
	var names, quals []byte
	var marks []uint64
	for i := range records {
		if i%100 == 0 {
			marks = append(marks, uint64(len(names)))
		}
		names = fmt.Appendf(names, "read.%d\n", i)
		for j := range length {
			quals = append(quals, ":,FF"[(i*7+j*j*3)/11%4])
		}
	}
	marks = append(marks, uint64(len(names)))
	r, err := Open("testdata/version1")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if v := r.Meta().Version; v != 1 {
		t.Fatalf("version %d", v)
	}
	d, _, err := r.directory(0)
	if err != nil {
		t.Fatal(err)
	}
	if m := d.sections[secQuals].methods; !slices.Equal(m, []uint8{chunkHuff, chunkHuff}) {
		t.Errorf("qualities are stored by the methods %v", m)
	}
	if m := d.sections[secNames].methods; !slices.Equal(m, []uint8{chunkZstd}) {
		t.Errorf("names are stored by the methods %v", m)
	}
	if err := r.Check(context.Background()); err != nil {
		t.Error(err)
	}
	n, q := uint64(len(names)), uint64(len(quals))
	for _, x := range [][2]uint64{{0, q}, {0, qualChunkV1}, {qualChunkV1, q}, {qualChunkV1 - 1, qualChunkV1 + 1}, {5, 5}, {q - 1, q}} {
		if got, err := r.ReadQuals(0, x[0], x[1], nil); err != nil || !bytes.Equal(got, quals[x[0]:x[1]]) {
			t.Errorf("qualities %d to %d differ (%v)", x[0], x[1], err)
		}
	}
	for _, x := range [][2]uint64{{0, n}, {100, 1000}} {
		if got, err := r.ReadNames(0, x[0], x[1], nil); err != nil || !bytes.Equal(got, names[x[0]:x[1]]) {
			t.Errorf("names %d to %d differ (%v)", x[0], x[1], err)
		}
	}
	if got, err := r.NameMarks(0, 100); err != nil || !slices.Equal(got, marks) {
		t.Errorf("marks %v, %v; want %v", got, err, marks)
	}
}
