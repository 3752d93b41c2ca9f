package bins

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"sync"
	"sync/atomic"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/internal/testrun"
)

// sample makes a block as an assigner would: random reads, some of them reversed, names,
// qualities, exceptions and unusual forms. It returns the letters of the reads as well.
func sample(rng *rand.Rand, input int, first uint64, records int, varied bool) (*Block, [][]byte) {
	b := &Block{Input: input, FirstRecord: first, Records: records, TextLen: uint64(300 * records), Lengths: record.Lengths{Fixed: 37},
		Names: []byte{}, Quals: []byte{}}
	rng.Read(b.TextHash[:])
	reads, sigs := make([][]byte, records), make([]uint32, records)
	if varied {
		b.Lengths.Each, b.Lengths.Fixed = make([]uint32, records), 0
	}
	for i := range reads {
		n := 37
		if varied {
			n = rng.Intn(90)
			b.Lengths.Each[i] = uint32(n)
		}
		reads[i] = make([]byte, n)
		for j := range reads[i] {
			reads[i][j] = "ACGT"[rng.Intn(4)]
			b.Quals = append(b.Quals, byte(33+rng.Intn(1+input*40)))
		}
		b.Names = append(b.Names, fmt.Sprintf("read.%d %d\n", i, rng.Intn(1000))...)
		sigs[i] = uint32(rng.Intn(1 << 10))
		if rng.Intn(20) == 0 {
			sigs[i] = NBin
		}
		b.Order = append(b.Order, uint32(i))
		if rng.Intn(50) == 0 {
			b.Forms.Exceptions = append(b.Forms.Exceptions, record.FormException{Read: uint32(i), Form: &record.Form{CR: uint8(1 + rng.Intn(15))}})
		}
	}
	sort.SliceStable(b.Order, func(i, j int) bool { return sigs[b.Order[i]] < sigs[b.Order[j]] })
	for _, read := range b.Order {
		seq := reads[read]
		if n := len(b.Bins); n == 0 || b.Bins[n-1].Signature != sigs[read] {
			b.Bins = append(b.Bins, Bin{Signature: sigs[read]})
		}
		bin := &b.Bins[len(b.Bins)-1]
		bin.Reads++
		bin.Bases += uint64(len(seq))
		place := uint32(0)
		if sigs[read] != NBin {
			place = uint32(rng.Intn(2))
		}
		b.Place = append(b.Place, place)
		at := len(b.Packed)
		b.Packed = append(b.Packed, make([]byte, bases.PackedLen(len(seq)))...)
		for j := range seq {
			c := bytes.IndexByte([]byte("ACGT"), seq[j])
			k := j
			if place == 1 {
				c, k = 3-c, len(seq)-1-j
			}
			b.Packed[at+k/4] |= byte(c) << (k % 4 * 2)
		}
	}
	for i, seq := range reads {
		if len(seq) > 10 && rng.Intn(10) == 0 {
			b.Exceptions.Append(record.Exception{Read: uint32(i), Start: 0, Len: 1, Byte: 'N'})
			b.Exceptions.Append(record.Exception{Read: uint32(i), Start: 3, Len: 4, Byte: record.Lower})
			seq[0] = 'N'
			copy(seq[3:], bytes.ToLower(seq[3:7]))
		}
	}
	return b, reads
}

// clone copies a block, for EncodeBlock overwrites names and qualities.
func clone(b *Block) *Block {
	c := *b
	c.Names, c.Quals = bytes.Clone(b.Names), bytes.Clone(b.Quals)
	return &c
}

type archive struct {
	blocks []*Block
	reads  [][][]byte
}

func samples() *archive {
	rng := rand.New(rand.NewSource(7))
	a := new(archive)
	first := [2]uint64{}
	for i, n := range []int{5000, 3000, 1, 0, 40000} {
		b, reads := sample(rng, i%2, first[i%2], n, i%3 == 1)
		first[i%2] += uint64(n)
		a.blocks, a.reads = append(a.blocks, b), append(a.reads, reads)
	}
	return a
}

var sampleOptions = record.Options{OrderAny: true, Quality: record.QualityBin8, BlockSize: 256e6}

func sampleInputs() []record.Input {
	return []record.Input{{Name: "a.fastq", Mate: -1}, {Name: "b.fastq", Mate: -1}}
}

// side runs tasks on so many goroutines.
func side(workers int) Runner {
	return func(n int, task func(int)) {
		var next atomic.Int64
		var wait sync.WaitGroup
		for range workers {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for i := next.Add(1); i <= int64(n); i = next.Add(1) {
					task(int(i - 1))
				}
			}()
		}
		wait.Wait()
	}
}

// write writes the archive under dir.
func (a *archive) write(t testing.TB, dir, name string, force bool, workers int) {
	t.Helper()
	w, err := Create(dir, name, commit.Forced(force, nil))
	if err != nil {
		t.Fatal(err)
	}
	var e Encoded
	for _, b := range a.blocks {
		if err := EncodeBlock(&e, clone(b), side(workers)); err != nil {
			t.Fatal(err)
		}
		if err := writeBlock(w, &e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(sampleOptions, sampleInputs()); err != nil {
		t.Fatal(err)
	}
}

// opened writes the archive with so many workers and opens it until the test ends.
func (a *archive) opened(t *testing.T, workers int) *Reader {
	t.Helper()
	dir := t.TempDir()
	a.write(t, dir, "a", false, workers)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestRoundTrip(t *testing.T) {
	a, dir := samples(), filepath.Join(t.TempDir(), "out")
	a.write(t, dir, "a", false, 3)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	m := r.Meta()
	if m.Options != sampleOptions || len(m.Inputs) != 2 || m.Inputs[1].Name != "b.fastq" || m.Inputs[0].Records != 45001 {
		t.Errorf("meta = %+v", m)
	}
	if got := m.BlocksOf(1); !reflect.DeepEqual(got, []int{1, 3}) {
		t.Errorf("BlocksOf(1) = %v", got)
	}
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, want := range a.blocks {
		var got Block
		if err := r.ReadColumns(i, WantAll, &got); err != nil {
			t.Fatal(err)
		}
		if err := r.ReadBins(i, 0, NBin, &got); err != nil {
			t.Fatal(err)
		}
		if want.Records == 0 {
			continue
		}
		if !reflect.DeepEqual(&got, want) {
			t.Errorf("block %d differs", i)
		}
		seqs, err := got.AppendSequencesOf(nil, 0, got.Records)
		if err != nil || !bytes.Equal(seqs, bytes.Join(a.reads[i], nil)) {
			t.Errorf("block %d: sequences differ (%v)", i, err)
		}
	}
}

func TestSameBytesForAnyWorkers(t *testing.T) {
	a, dir := samples(), t.TempDir()
	a.write(t, filepath.Join(dir, "1"), "a", false, 1)
	a.write(t, filepath.Join(dir, "5"), "a", false, 5)
	for _, ext := range []string{commit.BinsDataExt, commit.BinsMetaExt} {
		one, err1 := os.ReadFile(filepath.Join(dir, "1", "a"+ext))
		five, err5 := os.ReadFile(filepath.Join(dir, "5", "a"+ext))
		if err1 != nil || err5 != nil || !bytes.Equal(one, five) {
			t.Errorf("%s: bytes differ (%v, %v)", ext, err1, err5)
		}
	}
}

// readAll opens an archive and reads all of it.
func readAll(t testing.TB, dir string) error {
	r, err := Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Check(t.Context())
}

// TestDamage flips bits, cuts and swaps files: all of it must be noticed.
func TestDamage(t *testing.T) {
	a, dir := samples(), t.TempDir()
	a.write(t, dir, "a", false, 2)
	rng := rand.New(rand.NewSource(3))
	for _, ext := range []string{commit.BinsDataExt, commit.BinsMetaExt} {
		path := filepath.Join(dir, "a"+ext)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		try := func(what string, changed []byte) {
			t.Helper()
			if err := os.WriteFile(path, changed, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := readAll(t, dir); !errors.Is(err, parse.ErrCorrupt) && !errors.Is(err, parse.ErrVersion) {
				t.Errorf("%s: %s: error is %v", ext, what, err)
			}
		}
		for range testrun.Pick(50, 50, 500) {
			at := rng.Intn(len(whole))
			switch rng.Intn(3) {
			case 0:
				at = rng.Intn(64)
			case 1:
				at = len(whole) - 1 - rng.Intn(min(1000, len(whole)))
			}
			changed := bytes.Clone(whole)
			changed[at] ^= 1 << rng.Intn(8)
			try(fmt.Sprintf("bit flipped at %d", at), changed)
		}
		for range 20 {
			n := rng.Intn(len(whole))
			try(fmt.Sprintf("cut to %d", n), whole[:n])
		}
		try("longer", append(bytes.Clone(whole), 0))
		if err := os.WriteFile(path, whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// The data file of an archive that differs in one name.
	other := filepath.Join(t.TempDir(), "other")
	a.blocks[0].Names[0] ^= 1
	a.write(t, other, "a", false, 2)
	if err := os.Rename(filepath.Join(other, "a"+commit.BinsDataExt), filepath.Join(dir, "a"+commit.BinsDataExt)); err != nil {
		t.Fatal(err)
	}
	if err := readAll(t, dir); !errors.Is(err, parse.ErrCorrupt) {
		t.Errorf("swapped: error is %v", err)
	}
}

func TestOpenWhatIsNone(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Join(dir, "missing")} {
		if _, err := Open(d); !errors.Is(err, commit.ErrNotArchive) {
			t.Errorf("Open(%s): %v", d, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "x"+commit.BinsMetaExt), []byte(commit.BinsMetaMagic), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, parse.ErrCorrupt) {
		t.Errorf("cut meta file: %v", err)
	}
}

func TestRemove(t *testing.T) {
	a, dir := samples(), t.TempDir()
	a.write(t, dir, "a", false, 2)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Remove(), r.Close()); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}
}

// TestConcurrentReads reads all blocks from several goroutines at once.
func TestConcurrentReads(t *testing.T) {
	a := samples()
	r := a.opened(t, 2)
	side(4)(40, func(k int) {
		i := k % len(a.blocks)
		var b Block
		if err := errors.Join(r.ReadColumns(i, WantAll, &b), r.ReadBins(i, 0, NBin, &b)); err != nil {
			t.Error(err)
		} else if !bytes.Equal(b.Quals, a.blocks[i].Quals) || !bytes.Equal(b.Packed, a.blocks[i].Packed) {
			t.Errorf("block %d differs", i)
		}
	})
}

// writeBlock writes a block behind those written before.
func writeBlock(w *Writer, e *Encoded) error {
	w.Reserve(e)
	return w.WriteReserved(e, side(2))
}
