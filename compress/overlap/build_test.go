package overlap

import (
	"bufio"
	"compress/gzip"
	"os"
	"sort"
	"strings"
	"testing"

	"orcomgo/bins"
	"orcomgo/minimizer"
)

// readsOf makes Reads of sequences as binning would.
func readsOf(seqs []string) *Reads {
	n := len(seqs)
	rd := &Reads{index: make([]uint32, n), record: make([]uint32, n), place: make([]uint32, n), odd: make([]uint64, n/64+1), length: make([]uint32, n)}
	type assigned struct {
		sig, pos uint32
		rev      bool
	}
	as := make([]assigned, n)
	order := make([]int, n)
	for i, s := range seqs {
		order[i] = i
		as[i].sig, as[i].pos, as[i].rev = minimizer.Find([]byte(s))
		for j := 0; j < len(s); j++ {
			if !strings.ContainsRune("ACGT", rune(s[j])) {
				rd.exceptions = append(rd.exceptions, bins.Exception{Read: uint32(i), Start: uint32(j), Len: 1, Byte: s[j]})
				rd.odd[i>>6] |= 1 << (i & 63)
			}
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return as[order[a]].sig < as[order[b]].sig })
	rd.off = make([]uint64, n+1)
	for i, rec := range order {
		s := seqs[rec]
		rd.record[i], rd.index[rec], rd.length[i] = uint32(rec), uint32(i), uint32(len(s))
		rd.place[i] = as[rec].pos << 1
		b := make([]byte, len(s))
		for j := range b {
			v := strings.IndexByte("ACGT", s[j])
			b[j] = byte(max(v, 0))
			if as[rec].rev {
				b[j] = byte(max(3-v, 0) & 3)
				if v < 0 {
					b[j] = 0
				}
			}
		}
		if as[rec].rev {
			rd.place[i] |= 1
			for x, y := 0, len(b)-1; x < y; x, y = x+1, y-1 {
				b[x], b[y] = b[y], b[x]
			}
		}
		p := pack(b)
		rd.packed = append(rd.packed, p[:bins.PackedLen(len(b))]...)
		rd.off[i+1] = uint64(len(rd.packed))
		if g := len(rd.groups); g > 0 && rd.groups[g-1].Signature == as[rec].sig {
			rd.groups[g-1].Reads++
		} else {
			rd.groups = append(rd.groups, bins.Bin{Signature: as[rec].sig, Reads: 1})
		}
	}
	rd.packed = append(rd.packed, make([]byte, pad)...)
	return rd
}

func readFASTQ(t testing.TB, path string) []string {
	f, err := os.Open(path)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 1<<24)
	var out []string
	for i := 0; sc.Scan(); i++ {
		if i%4 == 1 {
			out = append(out, sc.Text())
		}
	}
	return out
}
