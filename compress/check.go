package compress

import (
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"sync"

	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/compress/archive"
)

// Errors that can be tested for with errors.Is; those of both stages are the same.
var (
	ErrNotArchive = commit.ErrNotArchive
	ErrCorrupt    = parse.ErrCorrupt
	ErrVersion    = parse.ErrVersion
)

var errNames = errors.New("there are fewer names than records")

// textCheck follows the text of one input as it is delivered, from its first byte to its
// last, and compares it with what is known of it.
type textCheck struct {
	name   string
	sum    hash.Hash // SHA-256; nil if it is not asked for
	md5    hash.Hash // MD5; likewise
	blocks []archive.TextBlock
	block  *bins.TextHasher // of the text of blocks[0] so far
	left   uint64           // bytes of blocks[0] to come
	whole  bool             // blocks describe all of the text
	number int              // blocks done
	bytes  uint64
}

// newTextCheck checks against blocks of the manifest unless they are nil, and sums SHA-256 and MD5 if asked to.
func newTextCheck(name string, blocks []archive.TextBlock, sumSHA256, sumMD5 bool) *textCheck {
	c := &textCheck{name: name, blocks: blocks, whole: blocks != nil, block: new(bins.TextHasher)}
	if sumSHA256 {
		c.sum = sha256.New()
	}
	if sumMD5 {
		c.md5 = md5.New()
	}
	if len(blocks) > 0 {
		c.left = blocks[0].Len
	}
	return c
}

// add takes the next bytes of text. The error wraps ErrCorrupt.
func (c *textCheck) add(b []byte) error {
	c.digest(b)
	return c.compare(b)
}

// digest is the part of add that sums SHA-256 and MD5, side by side.
func (c *textCheck) digest(b []byte) {
	var md5 sync.WaitGroup
	if c.md5 != nil {
		md5.Go(func() { c.addMD5(b) })
	}
	c.addSHA256(b)
	md5.Wait()
}

// addSHA256 is the part of digest that sums SHA-256, if that is asked for.
func (c *textCheck) addSHA256(b []byte) { addTo(c.sum, b) }

// addMD5 is the part of digest that sums MD5, if that is asked for.
func (c *textCheck) addMD5(b []byte) { addTo(c.md5, b) }

// sumPiece is how many bytes are given to a hash.Hash at a time. Its loop can't be interrupted, so for each collection of garbage all other
// threads wait until it is through with them: for 3 ms, if these were the 2 MiB of a slice.
const sumPiece = 32 << 10

// addTo adds bytes to a hash unless that is nil.
func addTo(h hash.Hash, b []byte) {
	for h != nil && len(b) > 0 {
		n := min(len(b), sumPiece)
		h.Write(b[:n]) // a hash.Hash does not fail
		b = b[n:]
	}
}

// compare is the part of add that compares with the blocks.
func (c *textCheck) compare(b []byte) error {
	c.bytes += uint64(len(b))
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
			return fmt.Errorf("%s: block %d of its text is not what was binned: %w", c.name, c.number+1, ErrCorrupt)
		}
		c.block.Reset()
		c.blocks = c.blocks[1:]
		c.number++
		if len(c.blocks) > 0 {
			c.left = c.blocks[0].Len
		}
	}
	if len(b) > 0 {
		return fmt.Errorf("%s: more text comes out than went in: %w", c.name, ErrCorrupt)
	}
	return nil
}

// end is called after the last byte. want, if not nil, is the SHA-256 that must have come out.
func (c *textCheck) end(want *[32]byte) error {
	if err := c.add(nil); err != nil { // blocks of no bytes at the end
		return err
	}
	if len(c.blocks) > 0 {
		return fmt.Errorf("%s: its text ends in block %d, %d bytes early: %w", c.name, c.number+1, c.left, ErrCorrupt)
	}
	if want != nil && c.sum != nil && c.sha256() != *want {
		return fmt.Errorf("%s: the SHA-256 of its text is not that of the manifest: %w", c.name, ErrCorrupt)
	}
	return nil
}

func (c *textCheck) sha256() (s [32]byte) {
	c.sum.Sum(s[:0])
	return s
}

// md5Sum returns the MD5 of the text; zeros if it was not asked for.
func (c *textCheck) md5Sum() (s [16]byte) {
	if c.md5 != nil {
		c.md5.Sum(s[:0])
	}
	return s
}
