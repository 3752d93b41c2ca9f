package source

import (
	"cmp"
	"errors"
	"fmt"
	"orcomgo/bins/parse"
	"slices"
	"sync"
	"sync/atomic"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/names"
	"orcomgo/compress/workers"
)

// Names of a slice may begin with the models that those of the slice before have left (see nameLink), and names of further mates are
// decoded given those of the first mates, which are in another slice. So names that were decoded last are kept, and the models after
// them.

// sliceNames keeps decoded names.
type sliceNames struct {
	keepText atomic.Bool // names are kept after those of the next slice were decoded
	most     int         // how many bytes of names are kept, beside the last entry
	mu       sync.Mutex
	last     []*namesEntry // the most recent one last
}

// keptNames returns how many bytes of names are kept where so much memory may be used (0: the package's default). Where mates are in
// slices of their own, or names continue those of the slice before, what was dropped is decoded again.
func keptNames(memory uint64) int { return int(min(cmp.Or(memory, workers.DefaultMemory)/16, 64<<20)) }

// MaxLinks is how many slices there are at most from one whose names begin anew to one whose names continue others: if one is damaged, the
// names of so many are lost.
const MaxLinks = 32

// namesEntry is names of the first records of a member of a slice.
type namesEntry struct {
	slice  *archive.Slice
	member int
	first  int           // how many records
	done   chan struct{} // closed when the others are set
	names  []byte
	err    error
	models *names.Decoder // after all names of the slice; nil if the next slice has taken them
}

// get returns the names of the first n records of a member of a slice, each followed by '\n'. data is their section, nil if it is still to
// be read; given are those of the first mates if they are of second ones, nil if they are still to be decoded. The caller holds a worker,
// which another may have while it waits.
func (l *sliceNames) get(p *Packed, s *archive.Slice, member, n int, data, given []byte) ([]byte, error) {
	e, mine := l.entry(s, member, n)
	if mine {
		l.decode(p, e, data, given, 0)
	}
	e.wait(p)
	if e.err != nil || e.first == n {
		return e.names, e.err
	}
	return e.names[:columns.AfterNames(e.names, n)], nil
}

// wait returns when e is set.
func (e *namesEntry) wait(p *Packed) {
	select {
	case <-e.done:
	default:
		p.Pool.ReleaseWhile(func() { <-e.done })
	}
}

// entry returns one that has the first n names, and whether the caller has to decode them.
func (l *sliceNames) entry(s *archive.Slice, member, n int) (e *namesEntry, mine bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.last {
		if e.slice == s && e.member == member && (e.first == n || e.first == s.Records) {
			return e, false
		}
	}
	return l.add(s, member, n), true
}

// add adds an entry of the first n names. l.mu must be locked.
func (l *sliceNames) add(s *archive.Slice, member, n int) *namesEntry {
	e := &namesEntry{slice: s, member: member, first: n, done: make(chan struct{})}
	l.last = append(l.last, e)
	return e
}

// decode sets e, after so many slices whose names continue those before. data and given are as in get.
func (l *sliceNames) decode(p *Packed, e *namesEntry, data, given []byte, links int) {
	e.names, e.models, e.err = l.decoded(p, e, data, given, links)
	l.mu.Lock()
	defer l.mu.Unlock()
	close(e.done)
	l.remove(e)
	l.last = append(l.last, e)
	l.drop(8 + 3*p.Threads)
}

// decoded returns the names of e, and the models after them.
func (l *sliceNames) decoded(p *Packed, e *namesEntry, data, given []byte, links int) (text []byte, models *names.Decoder, err error) {
	s, mem := e.slice, e.slice.Members()[e.member]
	if data == nil {
		if data, err = p.Archive.Read(mem.Sections[archive.Names], nil, namesOf(p, s, e.member)); err != nil {
			return nil, nil, err
		}
	}
	models = new(names.Decoder)
	if before := p.before[s]; names.Continues(data) && before != nil {
		if links == MaxLinks {
			return nil, nil, fmt.Errorf("%w: too many sections continue others", names.ErrCorrupt)
		}
		if models, err = l.modelsAfter(p, before, e.member, links+1); err != nil {
			return nil, nil, p.needed("those of the records before", before, e.member, err)
		}
	}
	if e.member == 1 && given == nil {
		given, err = l.get(p, s, 0, e.first, nil, nil)
	} else if lead := p.Leads[s]; lead != nil {
		if given, err = l.get(p, lead, 0, e.first, nil, nil); err != nil {
			err = p.needed("those of the first mates", lead, 0, err)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if text, err = models.Decode(data, given, s.Records, e.first, mem.NamesLen); err != nil {
		return nil, nil, err
	}
	if e.first == s.Records && uint64(len(text)) != mem.NamesLen {
		return nil, nil, fmt.Errorf("%d bytes where the manifest says %d", len(text), mem.NamesLen)
	}
	if e.first < s.Records {
		models = nil
	}
	return text, models, nil
}

// modelsAfter returns the models after all names of a member of a slice. They are for the caller alone.
func (l *sliceNames) modelsAfter(p *Packed, s *archive.Slice, member, links int) (*names.Decoder, error) {
	for {
		e, mine := l.entryWithModels(s, member)
		if mine {
			l.decode(p, e, nil, nil, links)
		}
		e.wait(p)
		if e.err != nil {
			return nil, e.err
		}
		if models := l.take(p, e); models != nil {
			return models, nil
		}
	}
}

// entryWithModels returns one of all names of a member of a slice that has, or will have, the models after them, and whether the caller has
// to decode them.
func (l *sliceNames) entryWithModels(s *archive.Slice, member int) (e *namesEntry, mine bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.last {
		if e.slice != s || e.member != member || e.first != s.Records {
			continue
		}
		if !e.decoded() || e.models != nil || e.err != nil {
			return e, false
		}
		l.remove(e) // the new one has the same names
		break
	}
	return l.add(s, member, s.Records), true
}

// decoded reports whether e is set.
func (e *namesEntry) decoded() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// take returns the models of e, nil if another has taken them.
func (l *sliceNames) take(p *Packed, e *namesEntry) *names.Decoder {
	l.mu.Lock()
	defer l.mu.Unlock()
	models := e.models
	if e.models = nil; !l.keepText.Load() && !p.hasFurther[e.slice] {
		l.remove(e)
	}
	return models
}

// remove removes an entry, if it is there. l.mu must be locked.
func (l *sliceNames) remove(e *namesEntry) {
	if i := slices.Index(l.last, e); i >= 0 {
		l.last = slices.Delete(l.last, i, i+1)
	}
}

// drop drops the oldest entries where there are more than l.most bytes of names, and, unless names are kept, more than `most` entries.
// Only so many have models. l.mu must be locked.
func (l *sliceNames) drop(most int) {
	bytes := 0
	for _, e := range l.last {
		if e.decoded() {
			bytes += len(e.names)
		}
	}
	old := len(l.last) - most // so many are older than those
	kept := l.last[:0]
	for i, e := range l.last {
		if e.decoded() && i < len(l.last)-1 {
			if bytes > l.most || i < old && !l.keepText.Load() {
				bytes -= len(e.names)
				continue
			}
			if i < old {
				e.models = nil
			}
		}
		kept = append(kept, e)
	}
	clear(l.last[len(kept):])
	l.last = kept
}

// namesOf says for errors which names those of a member of a slice are.
func namesOf(p *Packed, s *archive.Slice, member int) string {
	return archive.Names.String() + " of " + WhereRecords(p.Man, s, member)
}

// needed returns an error about names of a slice that others, what, are coded given.
func (p *Packed) needed(what string, s *archive.Slice, member int, err error) error {
	var lead *leadError
	if errors.As(err, &lead) {
		return lead
	}
	if !errors.Is(err, parse.ErrCorrupt) {
		err = p.Archive.Corrupt(namesOf(p, s, member), err)
	}
	return &leadError{what, err}
}

// leadError is an error about what others are coded given: names, or the first qualities of an input.
type leadError struct {
	what string
	error
}

func (e *leadError) Unwrap() error { return e.error }

// corrupt returns an error about what does not decode.
func (p *Packed) corrupt(what string, err error) error {
	var lead *leadError
	if errors.As(err, &lead) {
		return fmt.Errorf("%s: %s are needed: %w", what, lead.what, lead.error)
	}
	return p.Archive.Corrupt(what, err)
}
