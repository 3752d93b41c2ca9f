package compress

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/compress/archive"
)

// Original is an input that an archive may have been made of.
type Original struct {
	Name  string // that it would be restored under
	Mate  int    // index of the one with the mates, or -1
	First bool   // with Mate: this one has the first mates
	// Path is that of its file, and Open returns its text. Both are empty for an input that can't be read again, such as a pipe.
	Path string
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
		if inputs[i].Open == nil {
			return inputs[i].Name + " can't be read twice, so the archive can't be compared with it", nil
		}
		if d, err := sameInput(ctx, man, i, &inputs[i]); d != "" || err != nil {
			return d, err
		}
	}
	return "", nil
}

// sameInput compares an input with what the archive has of it: its file by size and time, then by SHA-256, as far as they were recorded;
// else its text, which may have been compressed again.
func sameInput(ctx context.Context, man *archive.Manifest, i int, o *Original) (difference string, err error) {
	in := &man.Inputs[i]
	info, err := vfs.Stat(o.Path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", o.Path, vfs.Cause(err))
	}
	if s := in.Source; s != nil && uint64(info.Size()) == s.Size && s.Name == filepath.Base(o.Path) {
		if !s.Time.IsZero() && s.Time.Equal(info.ModTime()) {
			return "", nil
		}
		if want, ok := man.FileSums(in); ok {
			if got, err := fileSHA256(ctx, o.Path); err != nil || got == want.SHA256 {
				return "", err
			}
		}
	}
	if !archive.Exact(man.Options, in.Kind) {
		return o.Name + " is not the file that was recorded, or none was, and not everything of it was kept to compare it with", nil
	}
	if same, err := sameText(ctx, man, i, o); err != nil || same {
		return "", err
	}
	return o.Name + " has another text now", nil
}

// fileSHA256 returns the SHA-256 of a file.
func fileSHA256(ctx context.Context, path string) (sum [32]byte, err error) {
	f, err := vfs.Open(path)
	if err != nil {
		return sum, fmt.Errorf("%s: %w", path, vfs.Cause(err))
	}
	defer f.Close()
	h := sha256.New()
	for buf := make([]byte, 1<<20); ; {
		n, err := f.Read(buf)
		h.Write(buf[:n]) // a hash.Hash does not fail
		switch {
		case err == io.EOF:
			h.Sum(sum[:0])
			return sum, nil
		case err != nil:
			return sum, fmt.Errorf("%s: %w", path, vfs.Cause(err))
		case ctx.Err() != nil:
			return sum, ctx.Err()
		}
	}
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
		case in.Mate != inputs[i].Mate || in.First != inputs[i].First:
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
