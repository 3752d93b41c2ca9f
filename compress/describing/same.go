package describing

import (
	"context"
	"fmt"
	"io"
	"time"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/packing"
	"orcomgo/compress/restoring"
	"orcomgo/compress/source"
)

// Original is an input that an archive may have been made of.
type Original struct {
	Name  string // that it would be restored under
	Mate  int    // index of the one with the mates, or -1
	First bool   // with Mate: this one has the first mates
	// Further says that it has further mates of input Lead.
	Further bool
	Lead    int
	// Open returns its text, and File its bytes as they are stored. Both are nil for an input that can't be read again, such as a pipe.
	Open, File func() (io.ReadCloser, error)
	Size       uint64    // of the file, in bytes
	Time       time.Time // when it was last written to
}

// SameOptions control MadeOf.
type SameOptions struct {
	Options record.Options // what is to be kept; BlockSize is ignored
	TwoBit  *bool          // so: packing.Options.TwoBit
}

// MadeOf finds out whether an archive, packed or not, was made of some inputs with some options. If not, difference says in words
// why not, or that it can't be told. Inputs are read as far as is needed to tell; an error is one of reading them, or of an archive that
// can't be read. A file of the recorded size and time is not read if these are enough, see TimeTells.
func MadeOf(ctx context.Context, e commit.Entry, inputs []Original, o SameOptions) (difference string, err error) {
	src, err := source.OpenEntry(e, 1, 0)
	if err != nil {
		return "", err
	}
	defer src.Close()
	if p, ok := src.(*source.Packed); ok && p.Archive.BulkProblem() != nil {
		return "", p.Archive.BulkProblem()
	}
	man := src.Manifest()
	if d := sameSetting(man, e, inputs, o); d != "" {
		return d, nil
	}
	for i := range inputs {
		if inputs[i].Open == nil {
			return inputs[i].Name + " can't be read twice, so the archive can't be compared with it", nil
		}
	}
	for i := range inputs {
		d, err := sameInput(ctx, man, i, &inputs[i])
		if d != "" || err != nil {
			return d, err
		}
	}
	return "", nil
}

// TimeTells reports whether a file that has the same size and the same time of modification as another one of its name can be taken for
// that without reading it. It can't be if it is small, since two files may be written at one tick of the clock, or if the time is one of
// whole seconds: many programs that unpack or copy files set such times, and different files may have the same one.
func TimeTells(size uint64, modified time.Time) bool {
	return size >= 1e6 && modified.Nanosecond() != 0
}

// sameInput compares an input with input i of an archive. A file that has the size and time that were recorded is the same if these are
// enough to tell. Others are compared by their checksums, if they are recorded, else by their text, if the archive has all of it.
func sameInput(ctx context.Context, man *archive.Manifest, i int, o *Original) (difference string, err error) {
	in := &man.Inputs[i]
	file := in.Source
	exact := man.Options.Exact(in.Kind)
	sameTime := file != nil && file.Size == o.Size && !file.Time.IsZero() && file.Time.Equal(o.Time)
	if sameTime && TimeTells(o.Size, o.Time) {
		return "", nil
	}
	if file != nil && file.Sums != nil {
		same := file.Size == o.Size
		if same {
			same, err = hasSHA256(ctx, o, file.Sums.SHA256)
		}
		switch {
		case err != nil || same:
			return "", err
		case !exact:
			return o.Name + " is from another file now, and the archive does not keep everything of it", nil
		}
		// The same text may have been compressed again.
	}
	if exact {
		same, err := sameText(ctx, man, i, o)
		if err == nil && !same {
			difference = o.Name + " has another text now"
		}
		return difference, err
	}
	if sameTime { // there is nothing else to compare
		return "", nil
	}
	if file == nil || file.Time.IsZero() {
		return "it does not keep everything of " + o.Name + ", so it can't be compared with that", nil
	}
	return "the file of " + o.Name + " has another size or time now, and the archive does not keep everything of it", nil
}

// hasSHA256 reports whether the file of an input has a SHA-256.
func hasSHA256(ctx context.Context, o *Original, want [32]byte) (bool, error) {
	r, err := o.File()
	if err != nil {
		return false, err
	}
	defer r.Close()
	h := restoring.NewTextCheck(&archive.Input{}, true, false)
	if err := h.Read(ctx, r); err != nil {
		return false, err
	}
	return h.Sums.Sums().SHA256 == want, nil
}

// sameSetting compares everything but the contents of the inputs.
func sameSetting(man *archive.Manifest, e commit.Entry, inputs []Original, o SameOptions) string {
	was, want := man.Options, o.Options
	was.BlockSize, want.BlockSize = 0, 0
	packed := e.Has[commit.Packed] && !e.Has[commit.Bins]
	switch {
	case len(man.Inputs) != len(inputs):
		return fmt.Sprintf("the number of its inputs is %d, not %d", len(man.Inputs), len(inputs))
	case was != want:
		return "it was made with other flags for what is kept"
	}
	for i := range inputs {
		switch in := &man.Inputs[i]; {
		case in.Name != inputs[i].Name:
			return fmt.Sprintf("it holds %s, not %s", in.Name, inputs[i].Name)
		case in.Mate != inputs[i].Mate || in.First != inputs[i].First || in.Further != inputs[i].Further || in.Lead != inputs[i].Lead:
			return fmt.Sprintf("%s has other mates there", in.Name)
		case o.TwoBit != nil && packed && in.TwoBit != *o.TwoBit && packing.CanBeTwoBit(man.Options, &in.Input, in.MaxLen):
			return fmt.Sprintf("%s was packed with --two-bit=%v", in.Name, in.TwoBit)
		}
	}
	return ""
}

// sameText reports whether an input has the text that the archive has of it.
func sameText(ctx context.Context, man *archive.Manifest, i int, o *Original) (bool, error) {
	r, err := o.Open()
	if err != nil {
		return false, err
	}
	defer r.Close()
	err = restoring.CheckOf(man, i, false).Read(ctx, r)
	if restoring.IsDamage(err) {
		return false, nil
	}
	return err == nil, err
}
