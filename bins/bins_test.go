package bins

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"testing"

	"orcomgo/bins/record"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
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
			b.Forms.Exceptions = append(b.Forms.Exceptions, record.FormException{Read: uint32(i), Form: record.Form{CR: uint8(1 + rng.Intn(15))}})
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
		b.Packed = append(b.Packed, make([]byte, record.PackedLen(len(seq)))...)
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
	w, err := Create(dir, name, force)
	if err != nil {
		t.Fatal(err)
	}
	var e Encoded
	for _, b := range a.blocks {
		if err := EncodeBlock(&e, clone(b), side(workers)); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteBlock(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(sampleOptions, sampleInputs()); err != nil {
		t.Fatal(err)
	}
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
		seqs, err := got.AppendSequences(nil)
		if err != nil || !bytes.Equal(seqs, bytes.Join(a.reads[i], nil)) {
			t.Errorf("block %d: sequences differ (%v)", i, err)
		}
	}
}

// TestExceptionRanges reads the exceptions of blocks between marks, in sections of several chunks as well, and damaged ones.
func TestExceptionRanges(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	few, _ := sample(rng, 0, 0, 3000, true)
	many, _ := sample(rng, 0, 3000, 100_000, false)
	many.Exceptions.Reset()
	for read := range uint32(100_000) {
		for at := uint32(0); at < 36 && read%5 > 0; at += 4 {
			many.Exceptions.Append(record.Exception{Read: read, Start: at, Len: 1 + at%3, Byte: 'N'})
		}
	}
	if n := len(many.Exceptions.Data()); n < 2*rawChunk {
		t.Fatalf("%d bytes of exceptions are not several chunks", n)
	}
	none, _ := sample(rng, 0, 103_000, 10, false)
	none.Exceptions.Reset()
	a := &archive{blocks: []*Block{few, many, none}, reads: make([][][]byte, 3)}
	dir := t.TempDir()
	a.write(t, dir, "a", false, 1)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i, b := range a.blocks {
		for _, every := range []int{1, 7, 4096, 100_000} {
			marks, err := r.ExceptionMarks(i, every, &b.Lengths)
			if err != nil {
				t.Fatal(err)
			}
			if b.Exceptions.Empty() {
				if marks != nil {
					t.Errorf("block %d: marks without exceptions", i)
				}
				continue
			}
			if want := (b.Records+every-1)/every + 1; len(marks) != want {
				t.Fatalf("block %d: %d marks, want %d", i, len(marks), want)
			}
			for range 20 {
				lo := rng.Intn(len(marks))
				hi := lo + rng.Intn(len(marks)-lo)
				var got record.ExceptionList
				err := r.ReadExceptions(i, marks[lo], marks[hi], &b.Lengths, func(e record.Exception) error {
					got.Append(e)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				var want record.ExceptionList
				for e := range b.Exceptions.All {
					if int(e.Read) >= lo*every && int(e.Read) < hi*every {
						want.Append(e)
					}
				}
				if !bytes.Equal(got.Data(), want.Data()) {
					t.Fatalf("block %d: the exceptions of records %d to %d differ", i, lo*every, hi*every)
				}
			}
		}
		var got record.ExceptionList
		err := r.EachException(i, &b.Lengths, func(e record.Exception) error { got.Append(e); return nil })
		if err != nil || !bytes.Equal(got.Data(), b.Exceptions.Data()) {
			t.Errorf("block %d: all exceptions differ (%v)", i, err)
		}
	}
	short := record.Lengths{Fixed: 20} // exceptions end after that
	if _, err := r.ExceptionMarks(1, 4096, &short); !errors.Is(err, parse.ErrCorrupt) {
		t.Errorf("exceptions outside of their reads: %v", err)
	}
}

// TestRanges reads the bins of a block in parts, which must add up to the whole.
func TestRanges(t *testing.T) {
	a, dir := samples(), t.TempDir()
	a.write(t, dir, "a", false, 1)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i, want := range a.blocks {
		var all, part Block
		for _, cut := range [][2]uint32{{0, 0}, {1, 99}, {100, 900}, {901, NBin - 1}, {NBin, NBin}, {9, 3}} {
			if err := r.ReadBins(i, cut[0], cut[1], &part); err != nil {
				t.Fatal(err)
			}
			all.Bins = append(all.Bins, part.Bins...)
			all.Order = append(all.Order, part.Order...)
			all.Place = append(all.Place, part.Place...)
			all.Packed = append(all.Packed, part.Packed...)
		}
		if !reflect.DeepEqual(all.Bins, want.Bins) || !reflect.DeepEqual(all.Order, want.Order) ||
			!reflect.DeepEqual(all.Place, want.Place) || !bytes.Equal(all.Packed, want.Packed) {
			t.Errorf("block %d: the parts are not the whole", i)
		}
	}
}

// TestParts reads the bins of a block part after part, which must add up to the whole, whatever the parts.
func TestParts(t *testing.T) {
	a, dir := samples(), t.TempDir()
	a.write(t, dir, "a", false, 1)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	reads, size := partReads, partBytes
	defer func() { partReads, partBytes = reads, size }()
	for _, c := range []struct {
		reads uint64
		bytes int
		least int // parts that there must be
	}{{reads, size, 1}, {1000, size, 40}, {1 << 14, 5000, 100}, {7, 1, 1000}} {
		partReads, partBytes = c.reads, c.bytes
		parts := 0
		for i, want := range a.blocks {
			var all, part Block
			part.Lengths = want.Lengths
			for _, cut := range [][2]uint32{{0, 0}, {1, 99}, {100, 900}, {901, NBin - 1}, {NBin, NBin}, {9, 3}} {
				err := r.EachPart(i, cut[0], cut[1], &part, func() error {
					parts++
					if n := len(part.Order); n == 0 || n > int(c.reads) || n > 1 && len(part.Packed) > c.bytes || len(part.Place) != n {
						t.Fatalf("block %d: a part of %d reads and %d bytes", i, n, len(part.Packed))
					}
					all.Order = append(all.Order, part.Order...)
					all.Place = append(all.Place, part.Place...)
					all.Packed = append(all.Packed, part.Packed...)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				all.Bins = append(all.Bins, part.Bins...)
			}
			if !reflect.DeepEqual(all.Bins, want.Bins) || !reflect.DeepEqual(all.Order, want.Order) ||
				!reflect.DeepEqual(all.Place, want.Place) || !bytes.Equal(all.Packed, want.Packed) {
				t.Errorf("%+v: block %d: the parts are not the whole", c, i)
			}
			part.Lengths = record.Lengths{}
		}
		if parts < c.least {
			t.Errorf("%+v: only %d parts", c, parts)
		}
	}
}

// TestColumnRanges reads names and qualities from anywhere to anywhere.
func TestColumnRanges(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	a, dir := samples(), t.TempDir()
	large, reads := sample(rng, 1, 3000, 80000, false)
	a.blocks, a.reads = append(a.blocks, large), append(a.reads, reads)
	a.write(t, dir, "a", false, 1)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []byte
	whole := 0 // names and qualities that several chunks hold
	for i, want := range a.blocks {
		for _, every := range []int{1, 10, 4096} {
			marks, err := r.NameMarks(i, every)
			if err != nil {
				t.Fatal(err)
			}
			if want.Names == nil {
				if marks != nil {
					t.Errorf("block %d: marks in no names", i)
				}
				continue
			}
			var at []uint64
			begin := uint64(0)
			for k, name := range bytes.SplitAfter(want.Names, []byte{'\n'}) {
				if k < want.Records && k%every == 0 {
					at = append(at, begin)
				}
				begin += uint64(len(name))
			}
			if at = append(at, begin); !slices.Equal(marks, at) {
				t.Errorf("block %d: marks %v, want %v", i, marks, at)
			}
		}
		for _, c := range []struct {
			column []byte
			chunk  int
			read   func(block int, from, to uint64, dst []byte) ([]byte, error)
		}{{want.Names, nameChunk, r.ReadNames}, {want.Quals, qualChunk, r.ReadQuals}} {
			n := uint64(len(c.column))
			if len(c.column) > c.chunk {
				whole++
			}
			ranges := [][2]uint64{{0, n}, {0, 0}, {n, n}, {min(n, uint64(c.chunk)), n}, {0, min(n, uint64(c.chunk))}}
			for range 30 {
				from := uint64(rng.Int63n(int64(n) + 1))
				ranges = append(ranges, [2]uint64{from, from + uint64(rng.Int63n(int64(n-from)+1))})
			}
			for _, x := range ranges {
				if got, err = c.read(i, x[0], x[1], got); err != nil || !bytes.Equal(got, c.column[x[0]:x[1]]) {
					t.Fatalf("block %d: %d to %d differ (%v)", i, x[0], x[1], err)
				}
			}
			if _, err := c.read(i, 0, n+1, nil); !errors.Is(err, parse.ErrCorrupt) {
				t.Errorf("block %d: beyond the end: %v", i, err)
			}
		}
	}
	if whole < 2 {
		t.Errorf("only %d columns of several chunks", whole)
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
		for range 150 {
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
	if err := os.WriteFile(filepath.Join(dir, "x"+commit.BinsMetaExt), []byte(metaMagic), 0o666); err != nil {
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
	a, dir := samples(), t.TempDir()
	a.write(t, dir, "a", false, 2)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
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
