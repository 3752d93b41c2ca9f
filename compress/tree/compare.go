package tree

import (
	"context"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"orcomgo/compress"
)

// Difference is what Compare finds.
type Difference int

// The differences between a side archive and a directory.
const (
	Same Difference = iota
	More            // the directory holds all that the side archive does, and more, or with other times, modes or owners
	Lost            // something of the side archive is not in the directory
)

// Compare compares a side archive with the listing of a directory now. Files of the recorded size and time are the same if these are
// enough to tell (compress.TimeTells), others are read, by open. Times of directories don't count, since writing beside them changes
// these, and neither does the content of reads, which their archives are compared with. If the difference is Lost, what says in words what
// is lost.
func (r *Reader) Compare(ctx context.Context, now *Listing, open func(e *Entry) (io.ReadCloser, error)) (
	d Difference, what string, err error) {
	at := make(map[string]int, len(now.Entries))
	for i := range now.Entries {
		at[now.Entries[i].Path] = i
	}
	if len(now.Entries) != len(r.Entries) || now.Mode != r.Mode || now.Owner != r.Owner {
		d = More
	}
	for i := range r.Entries {
		was := &r.Entries[i]
		k, ok := at[was.Path]
		if !ok {
			return Lost, was.Path + " is not there any more", nil
		}
		is := &now.Entries[k]
		if what, err := r.lost(ctx, now, i, k, open); what != "" || err != nil {
			return Lost, what, err
		}
		if !r.sameEntry(now, was, is) {
			d = More
		}
	}
	return d, "", nil
}

// sameEntry compares what a listing says of two entries of one path.
func (r *Reader) sameEntry(now *Listing, was, is *Entry) bool {
	if was.Kind != is.Kind || was.Mode != is.Mode || was.Owner != is.Owner || was.Kind != Directory && !was.Time.Equal(is.Time) {
		return false
	}
	switch was.Kind {
	case Reads:
		return was.Input == is.Input && r.Archives[was.Archive] == now.Archives[is.Archive]
	case HardLink:
		return r.Entries[was.First].Path == now.Entries[is.First].Path
	}
	return true
}

// lost says in words what of entry i would be lost if it were replaced by entry k of a listing; "" for nothing.
func (r *Reader) lost(ctx context.Context, now *Listing, i, k int, open func(e *Entry) (io.ReadCloser, error)) (string, error) {
	was, is := &r.Entries[i], &now.Entries[k]
	path := was.Path
	if was.Kind == HardLink {
		i = was.First
		was = &r.Entries[i]
	}
	if is.Kind == HardLink {
		is = &now.Entries[is.First]
	}
	switch {
	case was.Kind == Reads && is.Kind == Reads, was.Kind == is.Kind && was.Kind != File && was.Kind != Link:
		return "", nil
	case was.Kind != is.Kind:
		return fmt.Sprintf("%s was a %s and is a %s now", path, kindNoun(was.Kind), kindNoun(is.Kind)), nil
	case was.Kind == Link && was.Target != is.Target:
		return path + " leads elsewhere now", nil
	case was.Kind == Link:
		return "", nil
	case was.Size == is.Size && was.Time.Equal(is.Time) && compress.TimeTells(uint64(is.Size), is.Time):
		return "", nil
	}
	same := was.Size == is.Size
	if same {
		var err error
		if same, err = r.sameContent(ctx, i, is, open); err != nil {
			return "", err
		}
	}
	if !same {
		return path + " has other content now", nil
	}
	return "", nil
}

// kindNoun says what an entry is, after "a".
func kindNoun(k Kind) string {
	if k == Reads {
		return "file of reads"
	}
	return k.String()
}

// sameContent reports whether a file has the checksum of entry i.
func (r *Reader) sameContent(ctx context.Context, i int, is *Entry, open func(e *Entry) (io.ReadCloser, error)) (bool, error) {
	f, err := open(is)
	if err != nil {
		return false, err
	}
	defer f.Close()
	hash := xxh3.New()
	n, err := io.Copy(hash, &source{ctx, f})
	return n == r.Entries[i].Size && hash.Sum64() == r.side.Hash(r.number[i]), err
}
