package parity

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"sort"

	"orcomgo/bins/parse"
)

// Copy is a copy of the protected bytes as it is now.
type Copy struct {
	R    io.ReaderAt
	Size int64
}

// View gives the protected bytes as they were, from sectors of copies that are as they were and from others that were restored. It
// implements io.ReaderAt; where a sector is lost, the error is ErrLost.
type View struct {
	set    *Set
	copies []Copy
	// runs are the sectors that a copy has, in ascending order.
	runs []run
	// lost are the sectors that no copy has, in ascending order, and after Mend those that were not restored.
	lost     []int64
	restored map[int64]int64 // where Mend has put a sector
	store    io.ReaderAt
}

// run is a number of sectors, beginning with the sector first, that a copy has one after the other from the byte at on.
type run struct {
	first, count int64
	of           int // which copy
	at           int64
	weak         bool // one checksum says so, which may be that of other bytes by chance
}

// Check finds out which sectors the copies have. A sector is looked for where it was, and then everywhere, in case bytes were inserted
// or removed.
func (s *Set) Check(threads int, copies ...Copy) (*View, error) {
	v := &View{set: s, copies: copies, restored: make(map[int64]int64)}
	for of := range copies {
		runs, bad, err := v.checkPlaces(of, threads)
		if err != nil {
			return nil, err
		}
		if of == 0 {
			v.runs, v.lost = runs, bad
		} else {
			v.add(runs)
		}
		if len(v.lost) == 0 {
			return v, nil
		}
	}
	for of := range copies {
		found, err := v.search(of)
		if err != nil {
			return nil, err
		}
		v.add(found)
		if found, err = v.lastSector(of); err != nil {
			return nil, err
		}
		v.add(found)
	}
	return v, nil
}

// lastSector returns the last sector, which may be shorter than others, if the copy ends with it.
func (v *View) lastSector(of int) ([]run, error) {
	last := v.set.data.sectors() - 1
	b := make([]byte, v.set.data.length(last))
	at := v.copies[of].Size - int64(len(b))
	if at < 0 || v.runOf(last) != nil {
		return nil, nil
	}
	if err := parse.ReadAt(v.copies[of].R, b, at); err != nil || !v.set.isSector(b, last) {
		return nil, err
	}
	return []run{{first: last, count: 1, of: of, at: at, weak: true}}, nil
}

// add adds runs of sectors, of which those count that are lost so far.
func (v *View) add(runs []run) {
	for _, r := range runs {
		for r.count > 0 {
			for r.count > 0 && v.runOf(r.first) != nil {
				r.first, r.at, r.count = r.first+1, r.at+int64(v.set.data.sector), r.count-1
			}
			n := int64(0)
			for n < r.count && v.runOf(r.first+n) == nil {
				n++
			}
			if n > 0 {
				i := sort.Search(len(v.runs), func(i int) bool { return v.runs[i].first > r.first })
				v.runs = slices.Insert(v.runs, i, run{r.first, n, r.of, r.at, r.weak})
			}
			r.first, r.at, r.count = r.first+n, r.at+n*int64(v.set.data.sector), r.count-n
		}
	}
	v.lost = slices.DeleteFunc(v.lost, func(i int64) bool { return v.runOf(i) != nil })
}

// runOf returns the run that a sector is in, or nil.
func (v *View) runOf(i int64) *run {
	k := sort.Search(len(v.runs), func(k int) bool { return v.runs[k].first > i })
	if k == 0 || i >= v.runs[k-1].first+v.runs[k-1].count {
		return nil
	}
	return &v.runs[k-1]
}

// checkPlaces returns the sectors that a copy has where they were, and the others.
func (v *View) checkPlaces(of int, threads int) (runs []run, bad []int64, err error) {
	c, copied := &v.set.data, v.copies[of]
	sector, n := int64(c.sector), c.sectors()
	perTask := checkTask / sector
	bads := make([][]int64, (n-1)/perTask+1)
	err = eachTask(len(bads), threads, func(task int, buf []byte) error {
		first, end := int64(task)*perTask, min(int64(task+1)*perTask, n)
		have := buf[:max(0, min((end-first)*sector, copied.Size-first*sector))]
		if err := parse.ReadAt(copied.R, have, first*sector); len(have) > 0 && err != nil {
			return err
		}
		for i := first; i < end; i++ {
			b := have[:min(len(have), c.length(i))]
			if len(b) < c.length(i) || !v.set.isSector(b, i) {
				bads[task] = append(bads[task], i)
			}
			have = have[len(b):]
		}
		return nil
	})
	bad = slices.Concat(bads...)
	next := int64(0)
	for k := range len(bad) + 1 {
		end := n
		if k < len(bad) {
			end = bad[k]
		}
		if end > next {
			runs = append(runs, run{first: next, count: end - next, of: of, at: next * sector})
		}
		next = end + 1
	}
	return runs, bad, err
}

// search looks for lost sectors in those bytes of a copy that are not of a sector at its place.
func (v *View) search(of int) (found []run, err error) {
	s := newSearch(v, of)
	if s == nil {
		return nil, nil
	}
	sector := int64(v.set.data.sector)
	var places []run // of this copy, which are in the order of their bytes as they are where they were
	for _, r := range v.runs {
		if r.of == of {
			places = append(places, r)
		}
	}
	at := int64(0)
	for _, r := range places {
		if r.at-at >= sector {
			if found, err = s.gap(found, at, r.at); err != nil {
				return nil, err
			}
		}
		at = max(at, r.at+r.count*sector)
	}
	if at < v.copies[of].Size {
		return s.gap(found, at, v.copies[of].Size)
	}
	return found, nil
}

// search is the search for sectors in a copy.
type search struct {
	v      *View
	of     int
	sector int
	where  map[uint32]int64 // sectors by checksum
	filter []uint64         // bits for checksums of sectors: most others are not looked up
	table  [256]uint32      // what a byte that is sector bytes back has changed of the state of CRC-32C
	buf    []byte
}

// newSearch returns a search for sectors; nil if none has a whole sector's length, or their checksums are too short for it: the
// headers of an archive's sections say where they are.
func newSearch(v *View, of int) *search {
	if v.set.sumSize() < sumSize {
		return nil
	}
	c := &v.set.data
	s := &search{v: v, of: of, sector: c.sector, where: make(map[uint32]int64), buf: make([]byte, checkTask)}
	bits := 64
	for bits < 32*len(v.lost) && bits < 1<<27 {
		bits *= 2
	}
	s.filter = make([]uint64, bits/64)
	for _, i := range v.lost {
		if c.length(i) < c.sector {
			continue
		}
		sum := binary.LittleEndian.Uint32(v.set.sums[i*sumSize:])
		if _, twice := s.where[sum]; !twice {
			s.where[sum] = i
		}
		s.filter[sum/64%uint32(len(s.filter))] |= 1 << (sum % 64)
	}
	if len(s.where) == 0 {
		return nil
	}
	zeros := make([]byte, c.sector)
	for b := range s.table {
		// The state that a byte leaves differs from that at the beginning by this, and a sector later by what zeros make of it.
		change := crc32.Update(0, castagnoli, []byte{byte(b)})
		s.table[b] = ^crc32.Update(^change, castagnoli, zeros)
	}
	return s
}

// One sector alone is taken for that of its checksum only near the place where it is expected, so many bytes away, and not
// further from the last one that was found.
const (
	maxShift = 1 << 16
	maxGap   = 1 << 18
)

// gap appends to found the sectors that begin and end in bytes from..to-1 of the copy.
func (s *search) gap(found []run, from, to int64) ([]run, error) {
	n := int64(s.sector)
	// After the last sector that was found, the next one is expected at end.
	next, end := from/n, from
	for at := from; to-at >= n; {
		b := s.buf[:min(to-at, int64(len(s.buf)))]
		if err := parse.ReadAt(s.v.copies[s.of].R, b, at); err != nil {
			return nil, err
		}
		done := at + int64(len(b)) - n + 1 // the first place that is not looked at
		state := ^checksum(b[:n])
		for i := 0; ; i++ {
			sum := ^state
			if s.filter[sum/64%uint32(len(s.filter))]>>(sum%64)&1 != 0 {
				if first, ok := s.where[sum]; ok {
					r, err := s.extend(run{first: first, count: 1, of: s.of, at: at + int64(i)}, to)
					if err != nil {
						return nil, err
					}
					expected := next + (r.at-end)/n
					r.weak = r.count == 1
					if !r.weak || r.at-end < maxGap && max(first-expected, expected-first)*n <= maxShift {
						if k := len(found) - 1; k >= 0 && found[k].weak && !r.weak && r.at < found[k].at+n {
							found = found[:k] // not this sector: the run overlaps it
						}
						found = append(found, r)
						next, end = r.first+r.count, r.at+(r.count-1)*n+int64(s.v.set.data.length(r.first+r.count-1))
						if done = end; r.weak {
							done = r.at + 1
						}
						break
					}
				}
			}
			if i+s.sector >= len(b) {
				break
			}
			state = castagnoli[byte(state)^b[i+s.sector]] ^ state>>8 ^ s.table[b[i]]
		}
		at = done
	}
	return found, nil
}

// extend adds to a run of one sector those that follow it in the copy up to byte `to`.
func (s *search) extend(r run, to int64) (run, error) {
	c := &s.v.set.data
	b := make([]byte, s.sector)
	for i := r.first + 1; i < c.sectors(); i++ {
		at := r.at + r.count*int64(s.sector)
		n := c.length(i)
		if to-at < int64(n) {
			break
		}
		if err := parse.ReadAt(s.v.copies[s.of].R, b[:n], at); err != nil {
			return r, err
		}
		if !s.v.set.isSector(b[:n], i) {
			break
		}
		r.count++
	}
	return r, nil
}
