package tree

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
)

// appendListing appends the text of a listing, as docs/FORMAT.md has it.
func appendListing(dst []byte, l *Listing) []byte {
	f := &parse.Fields{Out: dst}
	l.code(f, 0)
	return f.Out
}

// parseListing is the inverse of appendListing. It returns what follows the listing, and what is wrong with that, "" for nothing. There may
// be so many entries at most. The sizes of files are not in it.
//
// What it accepts can be restored without leaving the directory: names are no paths, and what is in a directory comes after it.
func parseListing(text []byte, most uint64) (l *Listing, rest []byte, reason string) {
	l = new(Listing)
	c := &parse.Cursor{Rest: text}
	l.code(&parse.Fields{In: c}, most)
	return l, c.Rest, c.Reason
}

// code codes the fields of all entries, one after another. Reading, there may be so many at most.
func (l *Listing) code(f *parse.Fields, most uint64) {
	f.Text(&l.Tool)
	parse.Number(f, &l.Mode, 0o7777)
	codeOwner(f, &l.Owner)
	parse.List(f, &l.Archives, 17, "archives", func(a *Archive) {
		if f.Text(&a.Name); commit.CheckName(a.Name) != nil {
			f.Fail("%q is not the name of an archive", a.Name)
		}
		f.Bytes(a.ID[:])
	})
	parse.List(f, &l.LeftOut, 1, "lines about what was left out", f.Text)
	if f.In == nil {
		f.Out = binary.AppendUvarint(f.Out, uint64(len(l.Entries)))
	} else if n := f.In.Count(4, "entries"); uint64(n) > most {
		f.Fail("its %d entries take more than --memory", n)
	} else {
		l.Entries = make([]Entry, n)
	}
	for i := range l.Entries {
		parse.Byte(f, &l.Entries[i].Kind, kinds-1)
	}
	if f.In == nil {
		f.Out = appendPaths(f.Out, l.Entries)
	} else {
		parsePaths(f.In, l.Entries)
	}
	for i := range l.Entries {
		if e := &l.Entries[i]; e.Kind.hasMode() {
			parse.Number(f, &e.Mode, 0o7777)
		}
	}
	l.codeOwners(f)
	if f.In == nil {
		f.Out = appendTimes(f.Out, l)
	} else {
		parseTimes(f.In, l)
	}
	for i := range l.Entries {
		l.codeRest(f, &l.Entries[i])
	}
}

// hasMode reports whether entries of a kind have a mode of their own.
func (k Kind) hasMode() bool { return k != Link && k != HardLink }

func codeOwner(f *parse.Fields, o *vfs.Owner) {
	parse.Number(f, &o.User, math.MaxUint32)
	parse.Number(f, &o.Group, math.MaxUint32)
}

// codeOwners codes the entries from which on the owner is another one: none, as a rule.
func (l *Listing) codeOwners(f *parse.Fields) {
	type change struct {
		entry int
		owner vfs.Owner
	}
	var changes []change
	owner := l.Owner
	for i := range l.Entries {
		if e := &l.Entries[i]; f.In == nil && e.Kind != HardLink && e.Owner != owner {
			owner = e.Owner
			changes = append(changes, change{i, owner})
		}
	}
	parse.List(f, &changes, 3, "owners", func(c *change) {
		parse.Number(f, &c.entry, uint64(len(l.Entries)))
		codeOwner(f, &c.owner)
	})
	if !f.Reading() {
		return
	}
	next := 0
	for _, c := range append(changes, change{entry: len(l.Entries)}) {
		if c.entry < next {
			f.Fail("owners of entry %d follow those of entry %d", c.entry, next)
		}
		for ; next < c.entry; next++ {
			if e := &l.Entries[next]; e.Kind != HardLink {
				e.Owner = owner
			}
		}
		owner = c.owner
	}
}

// times returns the times of the directory itself and of all entries that have one.
func (l *Listing) times() []*time.Time {
	list := []*time.Time{&l.Time}
	for i := range l.Entries {
		if e := &l.Entries[i]; e.Kind != HardLink {
			list = append(list, &e.Time)
		}
	}
	return list
}

// appendTimes appends the differences of the seconds of times, then those of their nanoseconds: the highest bytes of all, which are mostly
// equal, before the next ones, which are noise.
func appendTimes(dst []byte, l *Listing) []byte {
	before := time.Unix(0, 0)
	var nanos []uint32
	for _, t := range l.times() {
		dst = binary.AppendVarint(dst, t.Unix()-before.Unix())
		d := int32(t.Nanosecond() - before.Nanosecond())
		nanos, before = append(nanos, uint32(d<<1^d>>31)), *t
	}
	for shift := 24; shift >= 0; shift -= 8 {
		for _, d := range nanos {
			dst = append(dst, byte(d>>shift))
		}
	}
	return dst
}

// parseTimes is the inverse of appendTimes.
func parseTimes(c *parse.Cursor, l *Listing) {
	list := l.times()
	seconds := make([]int64, len(list))
	for i := range list {
		seconds[i] = c.Varint(1 << 62)
	}
	nanos := c.Bytes(uint64(4 * len(list)))
	s, n := int64(0), int64(0)
	for i, t := range list {
		if c.Failed() {
			return
		}
		d := uint32(0)
		for k := range 4 {
			d = d<<8 | uint32(nanos[k*len(list)+i])
		}
		s, n = s+seconds[i], n+int64(int32(d>>1)^-int32(d&1))
		if s < -maxSeconds || s > maxSeconds || n < 0 || n > 999_999_999 {
			c.Fail("a time is out of range")
		}
		*t = time.Unix(s, n)
	}
}

// maxSeconds bounds times, so that differences don't overflow.
const maxSeconds = 1 << 48

// codeRest codes what only some kinds of entries have.
func (l *Listing) codeRest(f *parse.Fields, e *Entry) {
	switch e.Kind {
	case Reads:
		parse.Number(f, &e.Archive, math.MaxInt32)
		parse.Number(f, &e.Input, 1<<30)
		if parse.Number(f, &e.Size, 1<<62); e.Archive >= len(l.Archives) {
			f.Fail("a file is of archive %d of %d", e.Archive, len(l.Archives))
		}
	case Link:
		if f.Text(&e.Target); e.Target == "" || strings.IndexByte(e.Target, 0) >= 0 {
			f.Fail("a link leads nowhere")
		}
	case HardLink:
		parse.Number(f, &e.First, uint64(len(l.Entries)-1))
		if f.Reading() && l.Entries[e.First].Kind != File && l.Entries[e.First].Kind != Reads {
			f.Fail("a hard link is one of a %s", l.Entries[e.First].Kind)
		}
	}
}

// appendPaths appends how deep the entries are, and their names.
func appendPaths(dst []byte, entries []Entry) []byte {
	for i := range entries {
		dst = binary.AppendUvarint(dst, uint64(strings.Count(entries[i].Path, "/")))
	}
	for i := range entries {
		dst = append(append(dst, base(entries[i].Path)...), 0)
	}
	return dst
}

// parsePaths is the inverse of appendPaths.
func parsePaths(c *parse.Cursor, entries []Entry) {
	depths := make([]int, len(entries))
	above := 0 // the greatest depth that the next entry may have
	for i := range entries {
		depths[i] = int(c.AtMost(uint64(above)))
		if above = depths[i]; entries[i].Kind == Directory {
			above++
		}
	}
	var dirs []string // of the path to the entry, each with a slash
	seen := make(map[string]bool, len(entries))
	room := max(pathBytes*len(c.Rest), shortPaths) // for all paths
	for i := range entries {
		n := min(len(c.Rest), maxPathLen+1)
		name, _, ok := strings.Cut(string(c.Rest[:n]), "\x00")
		if !ok {
			c.Fail("a name has no end")
			return
		}
		c.Bytes(uint64(len(name)) + 1)
		dirs = dirs[:depths[i]]
		path := name
		if len(dirs) > 0 {
			path = dirs[len(dirs)-1] + name
		}
		room -= len(path)
		switch {
		case len(path) > maxPathLen || room < 0:
			c.Fail("the path of an entry is too long: ...%s", path[max(len(path)-60, 0):])
			return
		case name == "" || name == "." || name == ".." || strings.Contains(name, "/"):
			c.Fail("%q is not the name of a file", name)
			return
		case seen[path]:
			c.Fail("%q is there twice", path)
			return
		}
		seen[path] = true
		entries[i].Path = path
		if entries[i].Kind == Directory {
			dirs = append(dirs, path+"/")
		}
	}
}
