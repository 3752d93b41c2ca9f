package restoring

import (
	"context"
	"errors"
	"fmt"
	"io"

	"orcomgo/bins/parse"
	"orcomgo/compress/archive"
	"orcomgo/digest"
)

// TextCheck follows the text of one input as it is delivered, from its first byte to its
// last, and compares it with what is known of it.
type TextCheck struct {
	Name   string
	Sums   *digest.Digest
	want   *[32]byte // the SHA-256 that must come out; nil if it is not known
	blocks []archive.TextBlock
	block  *digest.TextHasher // of the text of blocks[0] so far
	left   uint64             // bytes of blocks[0] to come
	whole  bool               // blocks describe all of the text
	number int                // blocks done
	Bytes  uint64
	file   *gzipFile // that the text makes again; nil if that is not checked
}

// CheckFile has the text make the gzip file of an input again, if the archive knows how, and that compared with its checksums. Close ends
// what it starts.
func (c *TextCheck) CheckFile(in *archive.Input, threads int) {
	if in.Source != nil && len(in.Source.Gzip) > 0 {
		c.file = newGzipFile(in, io.Discard, threads)
	}
}

// AddToFile is the part of Add that makes the file.
func (c *TextCheck) AddToFile(b []byte) error {
	if c.file == nil {
		return nil
	}
	_, err := c.file.Write(b)
	return err
}

// Close ends a check that was not followed by End.
func (c *TextCheck) Close() { c.file.abort() }

// NewTextCheck checks against the blocks of an input, if it has any, and computes SHA-256 and MD5 if asked to.
func NewTextCheck(in *archive.Input, sumSHA256, sumMD5 bool) *TextCheck {
	c := &TextCheck{Name: in.Name, Sums: digest.New(sumSHA256, sumMD5), blocks: in.Blocks, whole: in.Blocks != nil,
		block: new(digest.TextHasher)}
	if len(c.blocks) > 0 {
		c.left = c.blocks[0].Len
	}
	return c
}

// CheckOf checks against all that an archive knows of the text of an input, and computes its MD5 if asked to.
func CheckOf(man *archive.Manifest, input int, sumMD5 bool) *TextCheck {
	in := &man.Inputs[input]
	c := NewTextCheck(in, man.Verified, sumMD5)
	if man.Verified {
		c.want = &in.SHA256
	}
	return c
}

// Add takes the next bytes of text. The error wraps ErrCorrupt.
func (c *TextCheck) Add(b []byte) error {
	c.Sums.Write(b)
	if err := c.AddToFile(b); err != nil {
		return err
	}
	return c.Compare(b)
}

// Compare is the part of add that compares with the blocks.
func (c *TextCheck) Compare(b []byte) error {
	c.Bytes += uint64(len(b))
	if !c.whole {
		return nil
	}
	for {
		n := min(uint64(len(b)), c.left)
		c.block.Write(b[:n])
		b, c.left = b[n:], c.left-n
		if c.left > 0 || len(c.blocks) == 0 {
			break
		}
		if c.block.Sum() != c.blocks[0].Hash {
			return fmt.Errorf("%s: block %d of its text is not what was binned: %w", c.Name, c.number+1, parse.ErrCorrupt)
		}
		c.block.Reset()
		c.blocks = c.blocks[1:]
		c.number++
		if len(c.blocks) > 0 {
			c.left = c.blocks[0].Len
		}
	}
	if len(b) > 0 {
		return fmt.Errorf("%s: more text comes out than went in: %w", c.Name, parse.ErrCorrupt)
	}
	return nil
}

// End is called after the last byte.
func (c *TextCheck) End() error {
	if err := c.Add(nil); err != nil { // blocks of no bytes at the end
		return err
	}
	if len(c.blocks) > 0 {
		return fmt.Errorf("%s: its text ends in block %d, %d bytes early: %w", c.Name, c.number+1, c.left, parse.ErrCorrupt)
	}
	if c.want != nil && c.Sums.Sums().SHA256 != *c.want {
		return fmt.Errorf("%s: the SHA-256 of its text is not that of the manifest: %w", c.Name, parse.ErrCorrupt)
	}
	if c.file != nil {
		return c.file.end()
	}
	return nil
}

// Read adds all of r, and compares its end. The error wraps ErrCorrupt if r has another text.
func (c *TextCheck) Read(ctx context.Context, r io.Reader) error {
	s := digest.NewStream(ctx, c.Sums)
	for {
		_, err := s.Fill(func(buf []byte) (int, error) {
			n, err := io.ReadFull(r, buf)
			if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
				err = c.Compare(buf[:n])
			}
			return n, err
		})
		if err != nil {
			s.Sums() // which waits
			if err == io.EOF {
				err = c.End()
			}
			return err
		}
	}
}
