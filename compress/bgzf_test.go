package compress

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

func TestUnpackBGZF(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(67, 700, true)
	for state, dir := range states(t, append(pair(r1, r2), input{"e.fastq", "", -1, false}), record.Options{BlockSize: 100 << 10}) {
		files := unpackAll(t, dir, UnpackOptions{Gzip: true, Threads: 3})
		for name, want := range map[string]string{"r_1.fastq.gz": r1, "r_2.fastq.gz": r2, "e.fastq.gz": ""} {
			if got := checkBGZF(t, []byte(files[name])); got != want {
				t.Errorf("%s: %s: %d bytes, want %d", state, name, len(got), len(want))
			}
		}
		if got := checkBGZF(t, []byte(stream(t, dir, UnpackOptions{Gzip: true}))); got != r1+r2 {
			t.Errorf("%s: %d bytes on a stream", state, len(got))
		}
		sameFiles(t, unpackAll(t, dir, UnpackOptions{Gzip: true, Threads: 1}), files)
	}
}

// bgzfEnd is the empty member at the end of a file of BGZF.
const bgzfEnd = "\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x06\x00BC\x02\x00\x1b\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// checkBGZF returns the text of a BGZF file, after checking the length and the extra field of every member.
func checkBGZF(t *testing.T, data []byte) string {
	t.Helper()
	if !bytes.HasSuffix(data, []byte(bgzfEnd)) || len(bgzfEnd) != 28 {
		t.Fatal("the end of the file is missing")
	}
	var text strings.Builder
	for len(data) > 0 {
		if string(data[:16]) != bgzfEnd[:16] {
			t.Fatalf("member begins with %x", data[:16])
		}
		size := int(binary.LittleEndian.Uint16(data[16:])) + 1
		if size > len(data) {
			t.Fatalf("a member of %d bytes, %d are left", size, len(data))
		}
		member := gunzip(t, string(data[:size]))
		if len(member) > 1<<16 {
			t.Fatalf("%d bytes in a member", len(member))
		}
		text.WriteString(member)
		data = data[size:]
	}
	return text.String()
}
