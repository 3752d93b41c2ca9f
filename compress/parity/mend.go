package parity

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"orcomgo/bins/parse"
)

// ErrLost is the error of a View for bytes of a sector that is lost. It wraps parse.ErrCorrupt.
var ErrLost = fmt.Errorf("a damaged sector can't be restored: %w", parse.ErrCorrupt)

// Lost returns how many sectors neither a copy has nor Mend has restored.
func (v *View) Lost() int64 { return int64(len(v.lost)) }

// Whole reports whether the first copy is as it was.
func (v *View) Whole() bool { return v.Intact() && v.copies[0].Size == v.set.data.size }

// Intact reports whether the first copy has all sectors where they were. Other bytes may follow.
func (v *View) Intact() bool {
	return len(v.runs) == 1 && v.runs[0].count == v.set.data.sectors() && v.runs[0].of == 0 && v.runs[0].at == 0
}

// Store keeps restored sectors.
type Store interface {
	io.ReaderAt
	// Put keeps sector i and returns from where ReadAt reads it.
	Put(i int64, b []byte) (at int64, err error)
}

// wrongSector is the error of a sector that was restored of sectors of which one is not what it is taken for.
type wrongSector struct{ number int64 }

func (w *wrongSector) Error() string {
	return "a restored sector has not the checksum that it had: " + parse.ErrCorrupt.Error()
}

func (w *wrongSector) Unwrap() error { return parse.ErrCorrupt }

// maxSuspects is of how many sectors, taken for what their checksums say, it is found out which one is another.
const maxSuspects = 256

// Mend restores lost sectors as far as the parity allows, and puts them in store. What it could not restore is still lost.
func (v *View) Mend(threads int, memory uint64, store Store) error {
	err := v.mend(threads, memory, store)
	for wrong := (*wrongSector)(nil); errors.As(err, &wrong); {
		group, _ := v.set.data.place(wrong.number)
		var suspects []int64
		for _, r := range v.runs {
			if g, _ := v.set.data.place(r.first); r.weak && g == group {
				suspects = append(suspects, r.first)
			}
		}
		if len(suspects) == 0 {
			return err
		}
		// Usually one of them is another sector than it is taken for. If without it all is restored, the others are right.
		runs, lost := v.runs, v.lost
		each := slices.Collect(slices.Chunk(suspects[:min(len(suspects), maxSuspects)], 1))
		for _, out := range append(each, suspects) {
			v.runs = slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return slices.Contains(out, r.first) })
			v.lost = slices.Sorted(slices.Values(append(slices.Clone(lost), out...)))
			err = v.mend(threads, memory, store)
			if _, ok := v.restored[out[0]]; ok {
				break
			}
		}
	}
	return err
}

func (v *View) mend(threads int, memory uint64, store Store) error {
	s := v.set
	bad := slices.DeleteFunc(slices.Clone(v.lost), func(i int64) bool { _, ok := v.restored[i]; return ok })
	v.store = store
	left, err := s.data.mend(v, bad, s.readParity(kindParity, &s.data), threads, memory, func(i int64, b []byte) error {
		if !s.isSector(b, i) {
			return &wrongSector{i}
		}
		at, err := store.Put(i, b)
		if err == nil {
			v.restored[i] = at
		}
		return err
	})
	if err == nil {
		v.lost = left
	}
	return err
}

// Size returns how many bytes there are.
func (v *View) Size() int64 { return v.set.data.size }

// ReadAt implements io.ReaderAt.
func (v *View) ReadAt(p []byte, at int64) (done int, err error) {
	sector := int64(v.set.data.sector)
	for done < len(p) {
		if at >= v.Size() {
			return done, io.EOF
		}
		i, from := at/sector, at%sector
		n := int64(v.set.data.length(i)) - from
		var source io.ReaderAt
		var place int64
		if r := v.runOf(i); r != nil {
			source, place = v.copies[r.of].R, r.at+(i-r.first)*sector+from
			n = min((r.first+r.count)*sector, v.Size()) - at
		} else if to, ok := v.restored[i]; ok {
			source, place = v.store, to+from
		} else {
			return done, ErrLost
		}
		n = min(n, int64(len(p)-done))
		if err := parse.ReadAt(source, p[done:done+int(n)], place); err != nil {
			return done, err
		}
		done, at = done+int(n), at+n
	}
	return done, nil
}

// Memory is a Store in memory, for at most Limit bytes.
type Memory struct {
	bytes []byte
	Limit int
}

// ErrMemory is the error where --memory is too little for all checksums or for mending.
var ErrMemory = errors.New("mending this takes more --memory while it is read: orcomgo repair mends it on disk")

// The least limits of memory with which codes of words are used, of which package reedsolomon keeps tables of 74 MB: by readers, and
// by writers, which hold more beside.
const (
	wordsLimit      = 224 << 20
	writeWordsLimit = 512 << 20
)

// sectorMemory is about how many bytes a sector takes that is not where it was.
const sectorMemory = 64

// memoryLimit returns how many bytes the program is to stay within.
func memoryLimit() uint64 { return uint64(debug.SetMemoryLimit(-1)) }

// Put implements Store.
func (m *Memory) Put(_ int64, b []byte) (at int64, err error) {
	if len(m.bytes)+len(b) > m.Limit {
		return 0, ErrMemory
	}
	m.bytes = append(m.bytes, b...)
	return int64(len(m.bytes) - len(b)), nil
}

// ReadAt implements io.ReaderAt.
func (m *Memory) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(m.bytes).ReadAt(p, at)
}
