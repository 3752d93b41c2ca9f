package tree

import (
	"context"
	"fmt"
	"io"

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
	var doubts []doubt
	is := make([]*Entry, len(r.entry)) // of each content, what has it now
	for i := range r.Entries {
		was := &r.Entries[i]
		k, ok := at[was.Path]
		if !ok {
			return Lost, was.Path + " is not there any more", nil
		}
		if !r.sameEntry(now, was, &now.Entries[k]) {
			d = More
		}
		file := &now.Entries[k]
		if file.Kind == HardLink {
			file = &now.Entries[file.First]
		}
		what, certain := r.lost(was, file)
		switch {
		case what != "":
			return Lost, was.Path + what, nil
		case was.Kind == File:
			is[r.number[i]] = file
		case was.Kind == HardLink:
			i = was.First
		}
		if !certain {
			doubts = append(doubts, doubt{r.number[i], file})
		}
	}
	for len(doubts) > 0 && err == nil {
		var path string
		if doubts, path, err = r.changed(ctx, doubts, is, open); path != "" {
			return Lost, path + otherContent, nil
		}
	}
	return d, "", err
}

const otherContent = " has other content now"

// doubt is a file whose size is that of a content of the side archive.
type doubt struct {
	content int
	file    *Entry
}

// changed returns the path of a content that a doubtful file does not have, or "", and the doubts that are left, of other names of files.
// Of all contents it is given what has them now.
func (r *Reader) changed(ctx context.Context, doubts []doubt, is []*Entry, open func(e *Entry) (io.ReadCloser, error)) (
	left []doubt, path string, err error) {
	doubted := make([]bool, len(is))
	for _, t := range doubts {
		if doubted[t.content] {
			left = append(left, t)
		} else {
			doubted[t.content], is[t.content] = true, t.file
		}
	}
	k, err := r.side.Changed(doubted, func(k int) (io.ReadCloser, error) {
		f, err := open(is[k])
		if err != nil {
			return nil, err
		}
		return &source{ctx, f}, nil
	})
	if k >= 0 && err == nil {
		path = r.Entries[r.entry[k]].Path
	}
	return left, path, err
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

// lost says in words what of an entry would be lost if it were replaced by another one, after its path, "" for nothing, and whether that is
// certain: content of the same size may be another one.
func (r *Reader) lost(was, is *Entry) (what string, certain bool) {
	if was.Kind == HardLink {
		was = &r.Entries[was.First]
	}
	switch {
	case was.Kind != is.Kind:
		return fmt.Sprintf(" was a %s and is a %s now", kindNoun(was.Kind), kindNoun(is.Kind)), true
	case was.Kind == Link && was.Target != is.Target:
		return " leads elsewhere now", true
	case was.Kind != File:
		return "", true
	case was.Size != is.Size:
		return otherContent, true
	}
	return "", was.Size == 0 || was.Time.Equal(is.Time) && compress.TimeTells(uint64(is.Size), is.Time)
}

// kindNoun says what an entry is, after "a".
func kindNoun(k Kind) string {
	if k == Reads {
		return "file of reads"
	}
	return k.String()
}
