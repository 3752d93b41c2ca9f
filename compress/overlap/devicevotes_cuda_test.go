//go:build cuda

package overlap

import (
	"context"
	"errors"
	"math"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"
	"orcomgo/cudakern"
	"orcomgo/internal/testrun"
)

// voteBuilder returns a builder with reads that are placed on a sequence: with errors that several share, at wrong places, and not at all;
// some have runs of N.
func voteBuilder(t *testing.T, r *rand.Rand, rd *Reads, seq []byte) func() *builder {
	t.Helper()
	var s sequence
	s.append(seq)
	pl := newPlacements(rd.Count(), 2)
	b := builder{
		config:     Config{Threads: 2},
		records:    &records{count: rd.Count()},
		allReads:   rd,
		workBytes:  math.MaxUint64,
		seq:        s,
		placements: pl,
	}
	b.records.fixedLength = rd.fixedLength
	if err := b.placeReads(context.Background(), 0, loose, retryMismatched); err != nil {
		t.Fatal(err)
	}
	placed := 0
	for i, rec := range rd.records {
		n := rd.len(i)
		switch {
		case r.Intn(50) == 0 && n <= len(seq):
			pos := r.Intn(len(seq) - n + 1)
			read, skip := rd.onPseudogenomeStrand(i, i%2 == 0, new([]byte), new([]uint64))
			d := 0
			forEachMismatch(s.packed, pos, read, n, skip, func(int, byte) { d++ })
			pl.set(rec, uint32(pos), i%2 == 0, d)
		case r.Intn(100) == 0:
			pl.pos[rec] = Unplaced
		}
		if pl.pos[rec] != Unplaced {
			placed++
		}
	}
	if placed < rd.Count()/2 {
		t.Fatalf("%d of %d reads are placed", placed, rd.Count())
	}
	return func() *builder {
		c := b
		c.seq = sequence{slices.Clone(s.packed), s.n}
		c.placements = &placements{slices.Clone(pl.pos), slices.Clone(pl.reversedBits), slices.Clone(pl.mismatches)}
		return &c
	}
}

// variedReads returns reads of different lengths and orientations, some of which have runs of N.
func variedReads(t *testing.T, r *rand.Rand, seq []byte, n int, fixed bool) *Reads {
	t.Helper()
	rd := &Reads{nonACGT: make([]uint64, n/64+1)}
	var reads [][]byte
	for range n {
		m := 1 + r.Intn(300)
		if r.Intn(200) == 0 {
			m = 690 + r.Intn(20)
		}
		if fixed {
			m = 101
		} else if r.Intn(300) == 0 {
			m = 0
		}
		reads = append(reads, append([]byte(nil), slices.Concat(stretchesOf(r, seq, 1, m, m, 15)...)...))
	}
	if fixed {
		rd.fixedLength = 101
	} else {
		for _, b := range reads {
			rd.lengths = append(rd.lengths, uint32(len(b)))
		}
	}
	rd.allocate(n)
	order := r.Perm(n)
	rd.records = make([]uint32, n)
	for i, rec := range order {
		rd.records[i] = uint32(rec)
		packBases(rd.packed[rd.offset(i):][:bases.PackedLen(len(reads[i]))], reads[i])
		rd.signaturePlace = append(rd.signaturePlace, uint32(r.Intn(2)))
	}
	index := make([]int, n)
	for i, rec := range rd.records {
		index[rec] = i
	}
	for rec, i := range index {
		m := len(reads[i])
		if m < 30 || r.Intn(6) > 0 {
			continue
		}
		for at := r.Intn(m); at < m && r.Intn(8) > 0; {
			k := min(m-at, 1+r.Intn(1+r.Intn(60)))
			rd.exceptions.Append(record.Exception{Read: uint32(rec), Start: uint32(at), Len: uint32(k), Byte: 'N'})
			rd.nonACGT[i>>6] |= 1 << (i & 63)
			at += k + 1 + r.Intn(40)
		}
	}
	return rd
}

// voteOnDevice has all reads, which are loaded, vote.
func voteOnDevice(d device, b *builder, selectPoor bool) (voted []byte, mismatches []uint8, poor []uint64, err error) {
	var set Subset
	if selectPoor {
		set = NewSubset(len(b.placements.pos))
		mismatches = make([]uint8, len(b.placements.pos))
	}
	voted = make([]byte, len(b.seq.packed))
	if err := d.vote(&b.seq, b.placements, voted, set.words, mismatches); err != nil {
		return nil, nil, nil, err
	}
	if selectPoor {
		b.allReads.keepLongACGT(&set, 3)
	}
	return voted, mismatches, set.words, nil
}

// TestVotesOnGPU: voting gives the same bases, mismatches and poorly placed reads, also window by window.
func TestVotesOnGPU(t *testing.T) {
	d := openForTest(t)
	defer func() { cudakern.MostMemory = 0 }()
	r := rand.New(rand.NewSource(76))
	for _, c := range []struct {
		name         string
		bases, reads int
		fixed        bool
	}{
		{"deep", 3_001, 6_000, false},
		{"fixed", 40_003, 6_000, true},
		{"varied", 30_002, 5_000, false},
		{"few", 1_000, 5, true},
		{"large", 3_000_000, 400_000, true},
	} {
		if testrun.Short() && c.reads > 100_000 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			seq := randomBases(r, c.bases)
			other := slices.Clone(seq) // what the reads are drawn of
			for range c.bases / 40 {
				other[r.Intn(c.bases)] = byte(r.Intn(4))
			}
			rd := variedReads(t, r, other, c.reads, c.fixed)
			cudakern.MostMemory = 0
			if err := d.loadReads(rd); err != nil {
				t.Fatal(err)
			}
			new := voteBuilder(t, r, rd, seq)
			for _, selectPoor := range []bool{true, false} {
				cpu := new()
				err := cpu.vote(context.Background())
				if selectPoor {
					cpu = new()
					err = cpu.voteAndSelectPoor(context.Background())
				}
				if err != nil {
					t.Fatal(err)
				}
				failed, done, first := 0, 0, true
				for limit := int64(1 << 14); limit < 1<<31; limit = limit*5/4 + 1 {
					cudakern.MostMemory = cudakern.AllocatedMemory() + limit
					if first {
						cudakern.MostMemory, first = 0, false
					}
					b := new()
					voted, mismatches, poor, err := voteOnDevice(d, b, selectPoor)
					if errors.Is(err, errDeviceMemory) {
						failed++
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					done++
					if !slices.Equal(voted, cpu.seq.packed) {
						t.Fatalf("limit %d: other bases than by the CPU", limit)
					}
					if selectPoor && (!slices.Equal(mismatches, cpu.placements.mismatches) || !slices.Equal(poor, cpu.poor.words)) {
						t.Fatalf("limit %d: other mismatches or poorly placed reads than by the CPU", limit)
					}
					if c.reads > 100_000 && done > 4 {
						break
					}
				}
				changed, poor := 0, 0
				for i := range seq {
					if bases.At(cpu.seq.packed, i) != seq[i] {
						changed++
					}
				}
				for i := range rd.Count() {
					if selectPoor && cpu.poor.Has(uint32(i)) {
						poor++
					}
				}
				t.Logf("%d bases changed, %d poor reads; %d limits were too small, %d were not", changed, poor, failed, done)
				if failed == 0 && c.reads > 100 || done < 2 || c.reads > 100 && changed == 0 || c.reads > 100 && selectPoor && poor == 0 {
					t.Error("too little was tested")
				}
			}
		})
	}
}
