package source

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/names"
	"orcomgo/compress/workers"
	"orcomgo/internal/tasks"
)

// Names of a slice may begin with the models that those of the slice before have left (see packing), and names of further mates are
// decoded given those of the first mates, which are in another slice. So names that were decoded last are kept, and the models after
// them.

// sliceNames decodes names.
type sliceNames struct {
	archive *archive.Reader
	pool    workers.Pool
	leads   map[*archive.Slice]*archive.Slice // of slices of further mates: those of the first mates
	leading map[*archive.Slice]bool           // slices that are one of these
	before  map[*archive.Slice]*archive.Slice // the slice with the records before

	decoded  tasks.Cache[namesKey, *decodedNames]
	most     int         // how many bytes of names are kept, beside those that were asked for last
	models   int         // how many models are kept, and names unless keepText is set
	keepText atomic.Bool // names are kept after those of the next slice were decoded
}

// keptNames returns how many bytes of names are kept where so much memory may be used (0: the package's default). Where mates are in
// slices of their own, or names continue those of the slice before, what was dropped is decoded again.
func keptNames(memory uint64) int { return int(min(cmp.Or(memory, workers.DefaultMemory)/16, 64<<20)) }

// MaxLinks is how many slices in a row may have names that continue those of the slice before: if one is damaged, the names of so many
// are lost.
const MaxLinks = 32

// namesKey are the first names of a member of a slice.
type namesKey struct {
	slice  *archive.Slice
	member int
	first  int // how many
}

// decodedNames are names, each followed by '\n', and the models after them.
type decodedNames struct {
	text   []byte
	models atomic.Pointer[names.Decoder] // nil if some are missing, or if the next slice has taken the models
}

// newSliceNames returns those of an archive that are still to be decoded.
func newSliceNames(r *archive.Reader, pool workers.Pool, memory uint64) *sliceNames {
	man := r.Manifest()
	l := &sliceNames{archive: r, pool: pool, most: keptNames(memory), models: 8 + 3*pool.Number,
		leads: make(map[*archive.Slice]*archive.Slice), leading: make(map[*archive.Slice]bool),
		before: make(map[*archive.Slice]*archive.Slice)}
	for i, lead := range man.Leads() {
		if lead >= 0 {
			l.leads[&man.Slices[i]] = &man.Slices[lead]
			l.leading[&man.Slices[lead]] = true
		}
	}
	last := make([]*archive.Slice, len(man.Inputs))
	for i := range man.Slices {
		s := &man.Slices[i]
		l.before[s], last[s.First.Input] = last[s.First.Input], s
	}
	return l
}

// get returns the names of the first n records of a member of a slice, each followed by '\n'. data is their section, nil if it is still to
// be read; given are those of the first mates if they are of second ones, nil if they are still to be decoded. The caller has a place of
// the pool, which another may have while it waits.
func (l *sliceNames) get(s *archive.Slice, member, n int, data, given []byte) ([]byte, error) {
	key := namesKey{s, member, n}
	if all := (namesKey{s, member, s.MemberRecords()}); n < all.first && l.decoded.Has(all) {
		// Should they be dropped before they are taken, all are decoded again: given all of the first mates, not only as many as given has.
		key, given = all, nil
	}
	d, err := l.once(key, data, given, 0)
	if err != nil || key.first == n {
		return d.text, err
	}
	return d.text[:columns.AfterNames(d.text, n)], nil
}

// once decodes names unless that was done, after so many slices whose names continue those before. data and given are as in get.
func (l *sliceNames) once(key namesKey, data, given []byte, links int) (*decodedNames, error) {
	d, err := l.decoded.Get(key, l.pool.WaitOutside, func() (*decodedNames, error) { return l.decode(key, data, given, links) })
	bytes := 0
	l.decoded.Shrink(func(age int, d *decodedNames) bool {
		bytes += len(d.text)
		if age >= l.models {
			d.models.Store(nil)
		}
		return age > 0 && (bytes > l.most || age >= l.models && !l.keepText.Load())
	})
	return d, err
}

// sectionsBefore appends to dst the sections that must be decoded before the names of a member of a slice, besides those of the slice.
func (l *sliceNames) sectionsBefore(dst []archive.Section, s *archive.Slice, member int) []archive.Section {
	if lead := l.leads[s]; lead != nil {
		dst = l.sectionsBefore(append(dst, lead.First.Sections[archive.Names]), lead, 0)
	}
	for links := 0; links < MaxLinks && s.Members()[member].NamesContinue && l.before[s] != nil; links++ {
		s = l.before[s]
		dst = append(dst, s.Members()[member].Sections[archive.Names])
	}
	return dst
}

// decode is once for the first one that asks. What it returns is not nil.
func (l *sliceNames) decode(key namesKey, data, given []byte, links int) (*decodedNames, error) {
	d := new(decodedNames)
	s, mem := key.slice, key.slice.Members()[key.member]
	var err error
	if data == nil {
		if data, err = l.archive.Read(mem.Sections[archive.Names], nil, l.namesOf(s, key.member)); err != nil {
			return d, err
		}
	}
	models := new(names.Decoder)
	if before := l.before[s]; names.Continues(data) && before != nil {
		if links == MaxLinks {
			return d, fmt.Errorf("%w: too many sections continue others", names.ErrCorrupt)
		}
		if models, err = l.modelsAfter(before, key.member, links+1); err != nil {
			return d, needed(l.archive, "those of the records before", l.namesOf(before, key.member), err)
		}
	}
	if key.member == 1 && given == nil {
		given, err = l.get(s, 0, key.first, nil, nil)
	} else if lead := l.leads[s]; lead != nil {
		if given, err = l.get(lead, 0, key.first, nil, nil); err != nil {
			err = needed(l.archive, "those of the first mates", l.namesOf(lead, 0), err)
		}
	}
	if err != nil {
		return d, err
	}
	if d.text, err = models.Decode(data, given, s.MemberRecords(), key.first, mem.NamesLen); err != nil {
		return d, err
	}
	if key.first < s.MemberRecords() {
		return d, nil
	}
	if uint64(len(d.text)) != mem.NamesLen {
		return d, fmt.Errorf("%d bytes where the manifest says %d", len(d.text), mem.NamesLen)
	}
	d.models.Store(models)
	return d, nil
}

// modelsAfter returns the models after all names of a member of a slice. They are for the caller alone.
func (l *sliceNames) modelsAfter(s *archive.Slice, member, links int) (*names.Decoder, error) {
	for key := (namesKey{s, member, s.MemberRecords()}); ; {
		d, err := l.once(key, nil, nil, links)
		if err != nil {
			return nil, err
		}
		models := d.models.Swap(nil)
		if models == nil || !l.keepText.Load() && !l.leading[s] {
			l.decoded.Drop(key)
		}
		if models != nil {
			return models, nil
		}
		// Another has taken them, so the names are decoded again.
	}
}

// namesOf says for errors which names those of a member of a slice are.
func (l *sliceNames) namesOf(s *archive.Slice, member int) string {
	return columnOf(l.archive.Manifest(), archive.Names, s, member)
}
