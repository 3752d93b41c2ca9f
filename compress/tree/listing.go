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

// appendListing appends the text of a listing, as docs/FORMAT.md has it: fields of all entries, one after another.
func appendListing(dst []byte, l *Listing) []byte {
	dst = parse.AppendBlock(dst, l.Tool)
	dst = binary.AppendUvarint(dst, uint64(l.Mode))
	dst = appendOwner(dst, l.Owner)
	dst = binary.AppendUvarint(dst, uint64(len(l.Archives)))
	for _, a := range l.Archives {
		dst = append(parse.AppendBlock(dst, a.Name), a.ID[:]...)
	}
	dst = binary.AppendUvarint(dst, uint64(len(l.LeftOut)))
	for _, o := range l.LeftOut {
		dst = parse.AppendBlock(dst, o)
	}
	dst = binary.AppendUvarint(dst, uint64(len(l.Entries)))
	for i := range l.Entries {
		dst = append(dst, byte(l.Entries[i].Kind))
	}
	for i := range l.Entries {
		dst = binary.AppendUvarint(dst, uint64(strings.Count(l.Entries[i].Path, "/")))
	}
	for i := range l.Entries {
		dst = append(append(dst, base(l.Entries[i].Path)...), 0)
	}
	for i := range l.Entries {
		if e := &l.Entries[i]; e.Kind.hasMode() {
			dst = binary.AppendUvarint(dst, uint64(e.Mode))
		}
	}
	dst = appendOwners(dst, l)
	dst = appendTimes(dst, l)
	for i := range l.Entries {
		switch e := &l.Entries[i]; e.Kind {
		case Reads:
			dst = binary.AppendUvarint(dst, uint64(e.Archive))
			dst = binary.AppendUvarint(dst, uint64(e.Input))
			dst = binary.AppendUvarint(dst, uint64(e.Size))
		case Link:
			dst = parse.AppendBlock(dst, e.Target)
		case HardLink:
			dst = binary.AppendUvarint(dst, uint64(e.First))
		}
	}
	return dst
}

// hasMode reports whether entries of a kind have a mode of their own.
func (k Kind) hasMode() bool { return k != Link && k != HardLink }

func appendOwner(dst []byte, o vfs.Owner) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(o.User)), uint64(o.Group))
}

// parseOwner is the inverse of appendOwner.
func parseOwner(c *parse.Cursor) vfs.Owner {
	return vfs.Owner{User: uint32(c.AtMost(math.MaxUint32)), Group: uint32(c.AtMost(math.MaxUint32))}
}

// appendOwners appends the entries from which on the owner is another one: none, as a rule.
func appendOwners(dst []byte, l *Listing) []byte {
	var changes []int
	owner := l.Owner
	for i := range l.Entries {
		if e := &l.Entries[i]; e.Kind != HardLink && e.Owner != owner {
			changes, owner = append(changes, i), e.Owner
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(changes)))
	for _, i := range changes {
		dst = appendOwner(binary.AppendUvarint(dst, uint64(i)), l.Entries[i].Owner)
	}
	return dst
}

// parseOwners is the inverse of appendOwners.
func parseOwners(c *parse.Cursor, l *Listing) {
	owner, next := l.Owner, 0
	until := func(i int) {
		for ; next < i; next++ {
			if e := &l.Entries[next]; e.Kind != HardLink {
				e.Owner = owner
			}
		}
	}
	for range c.Count(3, "owners") {
		i := c.Int(len(l.Entries))
		if i < next {
			c.Fail("owners of entry %d follow those of entry %d", i, next)
		}
		until(i)
		owner = parseOwner(c)
	}
	until(len(l.Entries))
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

// parseListing is the inverse of appendListing. It returns what follows the listing, and what is wrong with that, "" for nothing. There may
// be so many entries at most. The sizes of files are not in it.
//
// What it accepts can be restored without leaving the directory: names are no paths, and what is in a directory comes after it.
func parseListing(text []byte, most uint64) (l *Listing, rest []byte, reason string) {
	c := &parse.Cursor{Rest: text}
	l = &Listing{Tool: c.Text(), Mode: uint32(c.AtMost(0o7777)), Owner: parseOwner(c)}
	l.Archives = make([]Archive, c.Count(17, "archives"))
	for i := range l.Archives {
		a := &l.Archives[i]
		if a.Name = c.Text(); commit.CheckName(a.Name) != nil {
			c.Fail("%q is not the name of an archive", a.Name)
		}
		c.Copy(a.ID[:])
	}
	for range c.Count(1, "lines about what was left out") {
		l.LeftOut = append(l.LeftOut, c.Text())
	}
	n := c.Count(4, "entries")
	if uint64(n) > most {
		c.Fail("its %d entries take more than --memory", n)
		n = 0
	}
	l.Entries = make([]Entry, n)
	for i := range l.Entries {
		l.Entries[i].Kind = Kind(c.ByteAtMost(byte(kinds - 1)))
	}
	parsePaths(c, l.Entries)
	for i := range l.Entries {
		if e := &l.Entries[i]; e.Kind.hasMode() {
			e.Mode = uint32(c.AtMost(0o7777))
		}
	}
	parseOwners(c, l)
	parseTimes(c, l)
	for i := range l.Entries {
		l.parseRest(c, i)
	}
	return l, c.Rest, c.Reason
}

// parseRest parses what only some kinds of entries have.
func (l *Listing) parseRest(c *parse.Cursor, i int) {
	switch e := &l.Entries[i]; e.Kind {
	case Reads:
		archive := c.Uvarint()
		e.Input = int(c.AtMost(1 << 30))
		e.Size = int64(c.AtMost(1 << 62))
		if archive >= uint64(len(l.Archives)) {
			c.Fail("a file is of archive %d of %d", archive, len(l.Archives))
			return
		}
		e.Archive = int(archive)
	case Link:
		if e.Target = c.Text(); e.Target == "" || strings.IndexByte(e.Target, 0) >= 0 {
			c.Fail("a link leads nowhere")
		}
	case HardLink:
		e.First = int(c.AtMost(uint64(len(l.Entries) - 1)))
		if k := l.Entries[e.First].Kind; k != File && k != Reads {
			c.Fail("a hard link is one of a %s", k)
		}
	}
}

// parsePaths parses how deep the entries are, and their names.
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
