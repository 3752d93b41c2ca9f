package names

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/internal/testrun"
)

// dataNames reads the names of a FASTQ file of the folder of real runs, ORCOMGO_DATA, or skips.
func dataNames(tb testing.TB, file string) (names []byte, n int) {
	dir := testrun.Data(tb)
	f, err := os.Open(filepath.Join(dir, file+".fastq.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	r := bufio.NewScanner(z)
	r.Buffer(nil, 1<<24)
	for i := 0; r.Scan(); i++ {
		if i%4 == 0 {
			names = append(append(names, r.Bytes()[1:]...), '\n')
			n++
		}
	}
	if r.Err() != nil {
		tb.Fatal(r.Err())
	}
	return names, n
}

// cutSlices cuts n names into k runs of nearly equal counts.
func cutSlices(names []byte, n, k int) (out [][]byte, counts []int) {
	for i := 0; i < k; i++ {
		m := n*(i+1)/k - n*i/k
		end := 0
		for j := 0; j < m; j++ {
			end += bytes.IndexByte(names[end:], '\n') + 1
		}
		out, counts = append(out, names[:end]), append(counts, m)
		names = names[end:]
	}
	return out, counts
}

// TestRealNames holds the sizes of real names, in the slices that an archive has, to the
// best that was known for each file.
func TestRealNames(t *testing.T) {
	testrun.NotShort(t)
	for _, c := range []struct {
		file   string
		slices int
		most   int
	}{
		{"yeast_rnaseq_A_R1", 3, 614623},
		{"yeast_chipseq_SE50", 2, 606247},
		{"human_hiseq2500_R1", 1, 254240},
		{"sarscov2_amplicon_300bp_R1", 1, 133107},
		{"arabidopsis_rnaseq_R1", 1, 775012},
		{"novaseqx_4level_SE151", 1, 21321},
	} {
		t.Run(c.file, func(t *testing.T) {
			names, n := dataNames(t, c.file)
			parts, counts := cutSlices(names, n, c.slices)
			size := 0
			for i, p := range parts {
				code := Encode(p, counts[i])
				size += len(code)
				got, err := Decode(code, counts[i], uint64(len(p)))
				if err != nil || !bytes.Equal(got, p) {
					t.Fatalf("slice %d does not come back: %v", i, err)
				}
			}
			t.Logf("%d names, %d bytes to %d: %.4f of the best known", n, len(names), size, float64(size)/float64(c.most))
			if size > c.most {
				t.Errorf("%d bytes, want at most %d", size, c.most)
			}
		})
	}
}

// BenchmarkRealNames measures both ways on real names, a slice at a time as an archive has them.
func BenchmarkRealNames(b *testing.B) {
	for _, c := range []struct {
		file   string
		slices int
	}{
		{"yeast_rnaseq_A_R1", 3}, {"human_hiseq2500_R1", 1}, {"arabidopsis_rnaseq_R1", 1}, {"novaseqx_4level_SE151", 1},
		{"yeast_chipseq_SE50", 2}, {"sarscov2_amplicon_300bp_R1", 1},
	} {
		b.Run(c.file, func(b *testing.B) {
			names, n := dataNames(b, c.file)
			parts, counts := cutSlices(names, n, c.slices)
			benchmark(b, parts[0], nil, counts[0])
		})
	}
}
