package bins

import (
	"bytes"
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/record"
)

// trailerOf returns the trailer of an archive, and where it begins and the size of the data file.
func trailerOf(t testing.TB, a *archive) (trailer []byte, at, dataSize uint64) {
	t.Helper()
	dir := t.TempDir()
	a.write(t, dir, "a", false, 1)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, b := range r.info.Blocks {
		at = b.metaAt + b.StoredMeta
		dataSize = b.dataAt + b.StoredDNA + b.StoredNames + b.StoredQuals
	}
	trailer, _ = appendTrailer(r.info)
	return trailer, at, dataSize
}

func FuzzTrailer(f *testing.F) {
	trailer, at, size := trailerOf(f, samples())
	f.Add(trailer, size, at)
	f.Add([]byte{}, uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, trailer []byte, dataSize, metaSize uint64) {
		m, err := parseTrailer(trailer, dataSize, metaSize)
		if err != nil {
			if !errors.Is(err, parse.ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		for i := range m.Blocks {
			b := &m.Blocks[i]
			if b.metaAt+b.StoredMeta > metaSize || b.dataAt+b.StoredDNA+b.StoredNames+b.StoredQuals > dataSize {
				t.Errorf("block %d lies outside the files", i)
			}
		}
	})
}

func FuzzDirectory(f *testing.F) {
	dir := f.TempDir()
	samples().write(f, dir, "a", false, 1)
	r, err := Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	for i := range r.info.Blocks {
		d, _, err := r.directory(i)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytesOfDirectory(d), i)
	}
	f.Fuzz(func(t *testing.T, data []byte, block int) {
		b := &r.info.Blocks[uint(block)%uint(len(r.info.Blocks))]
		d, err := parseDirectory(data, b)
		if err != nil {
			return
		}
		for i := range d.sections {
			s := &d.sections[i]
			end := b.metaAt + b.StoredMeta
			if i < dataSections {
				end = b.dataAt + b.StoredDNA + b.StoredNames + b.StoredQuals
			}
			for j := range s.sums {
				if at, n := anyChunkAt(s, i, j); at+n > end {
					t.Errorf("a chunk of the %s lies outside the block", sectionNames[i])
				}
			}
		}
	})
}

// anyChunkAt is chunkAt for any section.
func anyChunkAt(s *section, sec, j int) (at, size uint64) {
	if compressed(sec) {
		return s.chunkAt(j)
	}
	return s.at + uint64(j)*chunkSize, s.chunkLen(j)
}

// FuzzMeta changes a meta file and mends its checksums, so that the reader gets past them.
func FuzzMeta(f *testing.F) {
	a := &archive{}
	rng := rand.New(rand.NewSource(5))
	first := uint64(0)
	for _, varied := range []bool{true, false} {
		b, reads := sample(rng, 0, first, 40, varied)
		first += 40
		a.blocks, a.reads = append(a.blocks, b), append(a.reads, reads)
	}
	last := len(a.blocks) - 1
	dir := f.TempDir()
	a.write(f, dir, "a", false, 1)
	data, err1 := os.ReadFile(filepath.Join(dir, "a"+commit.BinsDataExt))
	meta, err2 := os.ReadFile(filepath.Join(dir, "a"+commit.BinsMetaExt))
	if err := errors.Join(err1, err2); err != nil {
		f.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	f.Add(20, byte(1), 300, byte(7))
	f.Add(len(meta)-100, byte(9), 1000, byte(255))
	scratch := f.TempDir()
	f.Fuzz(func(t *testing.T, at int, x byte, at2 int, y byte) {
		meta, data := bytes.Clone(meta), bytes.Clone(data)
		// Flips in the blocks' sections of either file, then new sums for all chunks.
		metaEnd := r.info.Blocks[last].metaAt + r.info.Blocks[last].StoredMeta
		meta[metaHeaderLen+uint(at)%uint(metaEnd-metaHeaderLen)] ^= x
		data[dataHeaderLen+uint(at2)%uint(len(data)-dataHeaderLen)] ^= y
		info := *r.info
		info.Blocks = append([]BlockInfo{}, info.Blocks...)
		for i := range info.Blocks {
			b := &info.Blocks[i]
			d, _, err := r.directory(i)
			if err != nil {
				t.Fatal(err)
			}
			fixed := *d
			for k := range fixed.sections {
				s := &fixed.sections[k]
				s.sums = append([]uint64{}, s.sums...)
				file := meta
				if k < dataSections {
					file = data
				}
				for j := range s.sums {
					at, n := anyChunkAt(s, k, j)
					s.sums[j] = sum(file[at : at+n])
				}
			}
			dir := bytesOfDirectory(&fixed)
			copy(meta[b.metaAt+b.StoredMeta-b.dirLen:], dir)
			b.dirSum = sum(dir)
		}
		trailer, id := appendTrailer(&info)
		copy(data, dataHeader(id))
		meta = append(append(meta[:metaEnd], trailer...), footer(trailer, id, metaEnd, uint64(len(data)))...)
		if err := errors.Join(os.WriteFile(filepath.Join(scratch, "a"+commit.BinsMetaExt), meta, 0o666),
			os.WriteFile(filepath.Join(scratch, "a"+commit.BinsDataExt), data, 0o666)); err != nil {
			t.Fatal(err)
		}
		c, err := Open(scratch)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for i := range info.Blocks {
			var b Block
			err := errors.Join(c.ReadColumns(i, WantAll, &b), c.ReadBins(i, 0, NBin, &b))
			if err != nil {
				if !errors.Is(err, parse.ErrCorrupt) {
					t.Error(err)
				}
				continue
			}
			if _, err := b.AppendSequencesOf(nil, 0, b.Records); err != nil && !errors.Is(err, parse.ErrCorrupt) {
				t.Error(err)
			}
			if got, err := c.ReadNames(i, 5, 50, nil); err != nil || !bytes.Equal(got, b.Names[5:50]) {
				t.Errorf("block %d: a part of the names is %q, not %q (%v)", i, got, b.Names[5:50], err)
			}
		}
	})
}

func FuzzSections(f *testing.F) {
	rng := rand.New(rand.NewSource(4))
	b, _ := sample(rng, 0, 0, 100, true)
	f.Add(appendBins(nil, b, binSizes(b)), b.Exceptions.Data())
	f.Fuzz(func(t *testing.T, table, exceptions []byte) {
		info := &BlockInfo{Records: 100, Varied: true, PackedLen: uint64(len(b.Packed))}
		for _, n := range b.Lengths.Each {
			info.Bases += uint64(n)
		}
		if bins, sizes, err := parseBins(table, info); err == nil {
			reads := 0
			for i, bin := range bins {
				reads += int(bin.Reads)
				if i > 0 && bin.Signature <= bins[i-1].Signature || bin.Signature > NBin {
					t.Error("bins do not ascend")
				}
			}
			if reads != 100 || len(sizes) != len(bins) {
				t.Errorf("%d reads in %d bins", reads, len(bins))
			}
		}
		var p record.ExceptionParser
		var last record.Exception
		var list record.ExceptionList
		for data := exceptions; len(data) > 0; {
			e, n, ok := p.Next(data, b.Records, &b.Lengths)
			if !ok {
				break
			}
			if uint64(e.Start)+uint64(e.Len) > uint64(b.Lengths.Each[e.Read]) || e.Read < last.Read ||
				e.Read == last.Read && e.Start < last.Start+last.Len {
				t.Errorf("exception %+v", e)
			}
			list.Append(e)
			data, last = data[n:], e
		}
		var q record.ExceptionParser
		data := list.Data()
		list.All(func(e record.Exception) bool {
			got, n, ok := q.Next(data, b.Records, &b.Lengths)
			if !ok || got != e {
				t.Fatalf("%+v became %+v", e, got)
			}
			data = data[n:]
			return true
		})
	})
}

func bytesOfDirectory(d *directory) []byte {
	var f parse.Fields
	d.code(&f)
	return f.Out
}
