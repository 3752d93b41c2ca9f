package binning

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"orcomgo/internal/testrun"
)

func xzCompressed(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// compressedText returns a file of testdata.
func compressedText(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "compressed", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decompressed returns the text of xz or bzip2, as an input gives it.
func decompressed(data []byte) ([]byte, error) {
	b := bufio.NewReader(bytes.NewReader(data))
	if isBzip2(data) {
		return io.ReadAll(newBzip2(b))
	}
	z, err := newXZ(b)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// TestDecompress: files of xz and bzip2 give the text, several streams give the texts one after another, and no file that is cut or has
// another bit anywhere gives less or other text without an error.
func TestDecompress(t *testing.T) {
	testrun.NoRace(t)
	text := compressedText(t, "small.fastq")
	for _, name := range []string{"small.fastq.xz", "small.fastq.bz2"} {
		data := compressedText(t, name)
		if got, err := decompressed(data); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%s: %d bytes, %v", name, len(got), err)
		}
		if got, err := decompressed(append(bytes.Clone(data), data...)); err != nil || len(got) != 2*len(text) {
			t.Errorf("%s twice: %d bytes, %v", name, len(got), err)
		}
		// Each xz stream takes 8 MiB for its dictionary: not every place is tried without ORCOMGO_LONG.
		cuts, bits := 2, 29
		if testrun.Long() {
			cuts, bits = 0, 1
		}
		for n := 10; n < len(data); n += 1 + min(cuts, (len(data)-n)/40) {
			if _, err := decompressed(data[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s cut after %d of %d bytes: %v", name, n, len(data), err)
			}
		}
		for i := 0; i < len(data)*8; i += bits {
			damaged := bytes.Clone(data)
			damaged[i/8] ^= 1 << (i % 8)
			if !isXZ(damaged) && !isBzip2(damaged) {
				continue
			}
			if got, err := decompressed(damaged); err == nil && !bytes.Equal(got, text) {
				t.Errorf("%s with bit %d changed: other text and no error", name, i)
			}
		}
		_, err := decompressed(append(bytes.Clone(data), "hello, world"...))
		if err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s and text: %v", name, err)
		}
	}
	padded := append(append(xzCompressed(t, text), make([]byte, 8)...), xzCompressed(t, text)...)
	if got, err := decompressed(append(padded, make([]byte, 4)...)); err != nil || len(got) != 2*len(text) {
		t.Errorf("streams and zeros: %d bytes, %v", len(got), err)
	}
	if got, err := decompressed(append(xzCompressed(t, text[:100]), xzCompressed(t, text[100:])...)); err != nil || !bytes.Equal(got, text) {
		t.Errorf("two streams: %d bytes, %v", len(got), err)
	}
}

// TestXZDictionary: a dictionary that takes more memory than an input may ask for is refused.
func TestXZDictionary(t *testing.T) {
	data := compressedText(t, "small.fastq.xz")
	if n := xzDictionary(data); n != 8<<20 {
		t.Fatalf("%d, xz -6 has 8 MiB", n)
	}
	forged := bytes.Clone(data)
	at := bytes.Index(forged, []byte{0x21, 1, 22})
	if at < 0 {
		t.Fatal("no filter")
	}
	forged[at+2] = 39 // 3 GiB
	if n := xzDictionary(forged); n != 3<<30 {
		t.Errorf("%d", n)
	}
	if _, err := decompressed(forged); err == nil || !strings.Contains(err.Error(), "3221 MB") {
		t.Errorf("%v", err)
	}
}

// TestForeign: files that are no FASTQ are recognised, and FASTQ isn't taken for one of them.
func TestForeign(t *testing.T) {
	sam := "@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:chr1\tLN:1000\n"
	for _, c := range []struct{ head, want string }{
		{"BAM\x01....", "samtools collate -u -O x | samtools fastq"},
		{string(gzipped([]byte("BAM\x01\x00\x00\x00\x00"), 1)), "BAM"},
		{string(bgzipped(append([]byte("BAM\x01"), bytes.Repeat([]byte("text of the header "), 9000)...))), "BAM"},
		{"CRAM\x03\x00", "is CRAM"},
		{sam, "is SAM"},
		{string(gzipped([]byte(sam), 1)), "is SAM"},
		{"NCBI.sra\x05", "fasterq-dump x"},
		{"PK\x03\x04\x14", "unzip -p x"},
		{"@HD\tVN:1.6\nACGT\n+\nIIII\n", ""},
		{"@SQ\tSN:", ""},
		{"@CRAM\nACGT\n+\nIIII\n", ""},
		{"\x1f\x8b", ""},
		{string(gzipped([]byte("@a\nACGT\n+\nIIII\n"), 1)), ""},
		{"", ""},
	} {
		isBAM, err := refuseForeign("x", []byte(c.head))
		if isBAM != (c.want == "BAM") {
			t.Errorf("%.20q: BAM %v", c.head, isBAM)
		}
		if (err == nil) != (c.want == "" || isBAM) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v", c.head, err)
		}
	}
}
