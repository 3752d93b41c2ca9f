package parity

import (
	"hash/crc32"
	"io"
	"slices"
	"sort"
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
	// lost are the sectors that no copy has, in ascending order; Mend restores them.
	lost     []int64
	restored map[int64]int64 // where Mend has put a sector
	store    io.ReaderAt
	stored   int64 // bytes in store
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
	lost := make([]int64, 0)
	for of := range copies {
		var wanted []int64
		if of > 0 {
			if wanted = lost; len(wanted) == 0 {
				break
			}
		}
		var err error
		if lost, err = v.checkPlaces(of, wanted, threads); err != nil {
			return nil, err
		}
	}
	for of := range copies {
		if len(lost) == 0 {
			break
		}
		found, err := v.search(of, lost)
		if err != nil {
			return nil, err
		}
		v.add(found)
		lost = slices.DeleteFunc(lost, func(i int64) bool { return v.runOf(i) != nil })
	}
	v.lost = lost
	return v, nil
}

// add adds runs, of which the first found counts for a sector that is in several.
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
}

// runOf returns the run that a sector is in, or nil.
func (v *View) runOf(i int64) *run {
	k := sort.Search(len(v.runs), func(k int) bool { return v.runs[k].first > i })
	if k == 0 || i >= v.runs[k-1].first+v.runs[k-1].count {
		return nil
	}
	return &v.runs[k-1]
}

// checkPlaces adds the sectors that a copy has where they were, of those wanted (nil: of all), and returns the others.
func (v *View) checkPlaces(of int, wanted []int64, threads int) (lost []int64, err error) {
	c, copied := &v.set.data, v.copies[of]
	n := c.sectors()
	count := func(k int64) int64 { // the sector of number k of those to check
		if wanted != nil {
			return wanted[k]
		}
		return k
	}
	if wanted != nil {
		n = int64(len(wanted))
	}
	perTask := checkTask / int64(c.sector)
	bad := make([][]int64, (n-1)/perTask+1)
	err = eachTask(len(bad), threads, func(task int, buf []byte) error {
		first, end := int64(task)*perTask, min(int64(task+1)*perTask, n)
		for k := first; k < end; {
			m := int64(1) // sectors in a row
			for k+m < end && count(k+m) == count(k)+m {
				m++
			}
			i := count(k)
			at := i * int64(c.sector)
			have := buf[:max(0, min(m*int64(c.sector), copied.Size-at))]
			if err := readFull(copied.R, have, at); len(have) > 0 && err != nil {
				return err
			}
			for range m {
				sector := have[:min(len(have), c.length(i))]
				if len(sector) < c.length(i) || checksum(sector) != v.set.sum(i) {
					bad[task] = append(bad[task], i)
				}
				have = have[len(sector):]
				i++
			}
			k += m
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	lost = slices.Concat(bad...)
	var runs []run
	next := 0 // of lost
	for k := int64(0); k < n; k++ {
		i := count(k)
		if next < len(lost) && lost[next] == i {
			next++
			continue
		}
		if r := len(runs) - 1; r >= 0 && runs[r].first+runs[r].count == i {
			runs[r].count++
		} else {
			runs = append(runs, run{first: i, count: 1, of: of, at: i * int64(c.sector)})
		}
	}
	if v.runs == nil {
		v.runs = runs
	} else {
		v.add(runs)
	}
	return lost, nil
}

// search looks for lost sectors in those bytes of a copy that are not of a sector at its place.
func (v *View) search(of int, lost []int64) (found []run, err error) {
	if found, err = v.shortSector(of, lost); err != nil {
		return nil, err
	}
	s := newSearch(v, of, lost)
	if s == nil {
		return found, nil
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

// shortSector looks for the last sector at the end of a copy, if it is lost and shorter than others.
func (v *View) shortSector(of int, lost []int64) ([]run, error) {
	c, copied := &v.set.data, v.copies[of]
	last := c.sectors() - 1
	n := c.length(last)
	if lost[len(lost)-1] != last || n == c.sector || copied.Size < int64(n) {
		return nil, nil
	}
	b := make([]byte, n)
	if err := readFull(copied.R, b, copied.Size-int64(n)); err != nil || checksum(b) != v.set.sum(last) {
		return nil, err
	}
	return []run{{first: last, count: 1, of: of, at: copied.Size - int64(n), weak: true}}, nil
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

// newSearch returns a search for sectors; nil if none has a whole sector's length.
func newSearch(v *View, of int, lost []int64) *search {
	c := &v.set.data
	s := &search{v: v, of: of, sector: c.sector, where: make(map[uint32]int64), buf: make([]byte, checkTask)}
	bits := 64
	for bits < 32*len(lost) && bits < 1<<27 {
		bits *= 2
	}
	s.filter = make([]uint64, bits/64)
	for _, i := range lost {
		if c.length(i) < c.sector {
			continue
		}
		sum := v.set.sum(i)
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
		if err := readFull(s.v.copies[s.of].R, b, at); err != nil {
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
						found = append(found, r)
						next, end = r.first+r.count, r.at+(r.count-1)*n+int64(s.v.set.data.length(r.first+r.count-1))
						done = end
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
		if err := readFull(s.v.copies[s.of].R, b[:n], at); err != nil {
			return r, err
		}
		if checksum(b[:n]) != s.v.set.sum(i) {
			break
		}
		r.count++
	}
	return r, nil
}
