package source

import (
	"cmp"
	"slices"
	"sync"

	"orcomgo/compress/archive"
)

// Sections of a remote archive that lie so near each other are fetched by one request of so many bytes at most, which is what storage
// keeps as a whole. Longer sections are fetched when they are read.
const (
	nearSections = 256 << 10
	mostAhead    = 4<<20 - 128<<10
)

// run is sections that are fetched together.
type run struct {
	from, to uint64
	once     sync.Once
}

// Ahead returns a function that fetches what is needed for number k of demands, which are sorted by slice, if the archive is remote. It is
// safe for concurrent use.
func (p *Packed) Ahead(demands []Demand) (fetch func(k int)) {
	if !p.Archive.IsRemote() {
		return func(int) {}
	}
	var runs []*run
	of := make([][2]int, len(demands)) // the first run of each, which may be the last one of the demand before, and that after its last
	for k, d := range demands {
		s := &p.Man.Slices[d.Slice]
		if s.Halves() {
			d = d.ofHalves()
		}
		var needed []archive.Section
		for _, n := range p.Decodings(s, d) {
			if sec := *s.Section(n.Id, n.M); 0 < sec.Len && sec.Len <= mostAhead {
				needed = append(needed, sec)
			}
		}
		slices.SortFunc(needed, func(a, b archive.Section) int { return cmp.Compare(a.Off, b.Off) })
		of[k][0] = len(runs)
		for i, sec := range needed {
			end := sec.Off + sec.Len
			last := len(runs) - 1
			if last < 0 || sec.Off > runs[last].to+nearSections || end-runs[last].from > mostAhead {
				runs = append(runs, &run{from: sec.Off})
			} else if i == 0 {
				of[k][0] = last
			}
			runs[len(runs)-1].to = end
		}
		of[k][1] = len(runs)
	}
	return func(k int) {
		for _, r := range runs[of[k][0]:of[k][1]] {
			r.once.Do(func() { p.Archive.Fetch(r.from, r.to) })
		}
	}
}
