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
	dst = appendTime(dst, l.Time, time.Unix(0, 0))
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
	before := l.Time
	for i := range l.Entries {
		if e := &l.Entries[i]; e.Kind != HardLink {
			dst = appendTime(dst, e.Time, before)
			before = e.Time
		}
	}
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

// appendTime appends the differences of the seconds and of the nanoseconds of a time from those of some before.
func appendTime(dst []byte, t, before time.Time) []byte {
	return binary.AppendVarint(binary.AppendVarint(dst, t.Unix()-before.Unix()), int64(t.Nanosecond()-before.Nanosecond()))
}

// parseTime is the inverse of appendTime.
func parseTime(c *parse.Cursor, before time.Time) time.Time {
	s := before.Unix() + c.Varint(1<<62)
	n := int64(before.Nanosecond()) + c.Varint(999_999_999)
	if s < -maxSeconds || s > maxSeconds || n < 0 || n > 999_999_999 {
		c.Fail("a time is out of range")
		return before
	}
	return time.Unix(s, n)
}

// maxSeconds bounds times, so that differences don't overflow.
const maxSeconds = 1 << 48

// parseListing is the inverse of appendListing. It returns what is wrong with the text, "" for nothing. There may be so many
// entries at most. The sizes of files are not in it.
//
// What it accepts can be restored without leaving the directory: names are no paths, and what is in a directory comes after it.
func parseListing(text []byte, most uint64) (l *Listing, reason string) {
	c := &parse.Cursor{Rest: text}
	l = &Listing{Tool: c.Text(), Mode: uint32(c.AtMost(0o7777)), Owner: parseOwner(c), Time: parseTime(c, time.Unix(0, 0))}
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
	n := c.Count(5, "entries")
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
	before := l.Time
	for i := range l.Entries {
		if e := &l.Entries[i]; e.Kind != HardLink {
			e.Time = parseTime(c, before)
			before = e.Time
		}
	}
	for i := range l.Entries {
		l.parseRest(c, i)
	}
	if !c.Done() && !c.Failed() {
		c.Fail("something follows the listing")
	}
	return l, c.Reason
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
