package source

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"orcomgo/compress/archive"
	"orcomgo/internal/tasks"
)

// Sections of a remote archive are fetched together by requests of so many bytes at most, which is what storage keeps as a whole, with what
// lies between them: up to nearSections, or farSections while all is within a part of the archive. Longer sections are fetched when they
// are read.
const (
	mostAhead    = 4<<20 - 128<<10
	nearSections = 256 << 10
	farSections  = 1 << 20
	partAhead    = 50
)

// run is sections that are fetched together.
type run struct {
	from, to uint64
	once     sync.Once
}

// Ahead returns a function that fetches what is needed for number k of demands, if the archive is remote. It is safe for concurrent use.
func (p *Packed) Ahead(demands []Demand) (fetch func(k int)) {
	if !p.Archive.IsRemote() {
		return func(int) {}
	}
	var all []archive.Section
	needed := make([][]archive.Section, len(demands))
	for k, d := range demands {
		s := &p.Man.Slices[d.Slice]
		if s.Halves() {
			d = d.ofHalves()
		}
		for _, n := range p.Decodings(s, d) {
			needed[k] = append(needed[k], *s.Section(n.Id, n.M))
			if n.Id == archive.Names {
				needed[k] = p.names.sectionsBefore(needed[k], s, n.M)
			}
		}
		needed[k] = slices.DeleteFunc(needed[k], func(s archive.Section) bool { return s.Len == 0 || s.Len > mostAhead })
		all = append(all, needed[k]...)
	}
	runs := runsOf(all, p.Man.BulkLen/partAhead)
	return func(k int) {
		tasks.Each(len(needed[k]), len(needed[k]), func(_, i int) {
			r := runs[sort.Search(len(runs), func(r int) bool { return runs[r].to > needed[k][i].Off })]
			r.once.Do(func() { p.Archive.Fetch(r.from, r.to) })
		})
	}
}

// runsOf returns the runs of sections, with the smallest gaps between them that keep all within so many bytes.
func runsOf(all []archive.Section, most uint64) (runs []*run) {
	slices.SortFunc(all, func(a, b archive.Section) int { return cmp.Compare(a.Off, b.Off) })
	all = slices.Compact(all)
	gaps := make([]uint64, len(all))
	for i, s := range all {
		if i > 0 {
			gaps[i] = s.Off - all[i-1].Off - all[i-1].Len
		}
		most -= min(most, s.Len)
	}
	longest := uint64(nearSections)
	for _, gap := range slices.Sorted(slices.Values(gaps)) {
		if most -= min(most, gap); most == 0 || gap > farSections {
			break
		}
		longest = max(longest, gap)
	}
	for i, s := range all {
		last := len(runs) - 1
		if end := s.Off + s.Len; i > 0 && gaps[i] <= longest && end-runs[last].from <= mostAhead {
			runs[last].to = end
		} else {
			runs = append(runs, &run{from: s.Off, to: end})
		}
	}
	return runs
}
