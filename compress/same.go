package compress

import (
	"context"
	"fmt"
	"io"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
)

// Original is an input that an archive may have been made of.
type Original struct {
	Name  string // that it would be restored under
	Mate  int    // index of the one with the mates, or -1
	First bool   // with Mate: this one has the first mates
	// Further says that it has further mates of input Lead.
	Further bool
	Lead    int
	// Open returns its text. It is nil for an input that can't be read again, such as a pipe.
	Open func() (io.ReadCloser, error)
}

// SameOptions control MadeOf.
type SameOptions struct {
	Options record.Options // what is to be kept; BlockSize is ignored
	Level   *Level         // of a packed archive; nil for any
}

// MadeOf finds out whether an archive, packed or not, was made of some inputs with some options. If not, difference says in words
// why not, or that it can't be told. Inputs are read as far as is needed to tell; an error is one of reading them, or of an archive that
// can't be read.
func MadeOf(ctx context.Context, e commit.Entry, inputs []Original, o SameOptions) (difference string, err error) {
	src, err := openEntry(e, 1, 0)
	if err != nil {
		return "", err
	}
	defer src.Close()
	man := src.manifest()
	if d := sameSetting(man, e, inputs, o); d != "" {
		return d, nil
	}
	for i := range inputs {
		if !man.Options.Exact(man.Inputs[i].Kind) {
			return "it does not keep everything of " + inputs[i].Name + ", so it can't be compared with that", nil
		}
		if inputs[i].Open == nil {
			return inputs[i].Name + " can't be read twice, so the archive can't be compared with it", nil
		}
	}
	for i := range inputs {
		same, err := sameText(ctx, man, i, &inputs[i])
		if err != nil {
			return "", err
		}
		if !same {
			return inputs[i].Name + " has another text now", nil
		}
	}
	return "", nil
}

// sameSetting compares everything but the contents of the inputs.
func sameSetting(man *archive.Manifest, e commit.Entry, inputs []Original, o SameOptions) string {
	was, want := man.Options, o.Options
	was.BlockSize, want.BlockSize = 0, 0
	switch {
	case len(man.Inputs) != len(inputs):
		return fmt.Sprintf("the number of its inputs is %d, not %d", len(man.Inputs), len(inputs))
	case was != want:
		return "it was made with other flags for what is kept"
	case o.Level != nil && e.Has[commit.Packed] && !e.Has[commit.Bins] && Level(man.Level) != *o.Level:
		return fmt.Sprintf("it was packed with --level %s", Level(man.Level))
	}
	for i := range inputs {
		switch in := &man.Inputs[i]; {
		case in.Name != inputs[i].Name:
			return fmt.Sprintf("it holds %s, not %s", in.Name, inputs[i].Name)
		case in.Mate != inputs[i].Mate || in.First != inputs[i].First || in.Further != inputs[i].Further || in.Lead != inputs[i].Lead:
			return fmt.Sprintf("%s has other mates there", in.Name)
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
	in := &man.Inputs[i]
	check := newTextCheck(man, in.Name, in.Blocks, man.Verified, false)
	for buf := make([]byte, 1<<20); ; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := r.Read(buf)
		if check.add(buf[:n]) != nil {
			return false, nil
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return false, err
		}
	}
	var want *[32]byte
	if man.Verified {
		want = &in.SHA256
	}
	return check.end(want) == nil, nil
}
