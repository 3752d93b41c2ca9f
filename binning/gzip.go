package binning

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// gzipMembers inflates gzip members, one after another, up to the end of the file. As gzip(1)
// does, it ignores zero bytes behind the last member. Anything else there is an error.
type gzipMembers struct {
	in     *bufio.Reader
	offset func() uint64 // in the file, of what in gives next
	member *gzip.Reader
	inside bool // a member that has not ended
}

// newGzip begins with the member that is next in in. offset tells errors how far in is.
func newGzip(in *bufio.Reader, offset func() uint64) (*gzipMembers, error) {
	g := &gzipMembers{in: in, offset: offset, member: new(gzip.Reader)}
	return g, g.begin()
}

func (g *gzipMembers) begin() error {
	err := g.member.Reset(g.in)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // in the middle of the header
	}
	g.member.Multistream(false)
	g.inside = err == nil
	return err
}

// Read implements io.Reader.
func (g *gzipMembers) Read(p []byte) (int, error) {
	for {
		if g.inside {
			n, err := g.member.Read(p)
			if err == io.EOF {
				g.inside, err = false, nil
			}
			if n > 0 || err != nil {
				return n, err
			}
			continue
		}
		if err := behindMember(g.in, g.offset); err != nil {
			return 0, err
		}
		if err := g.begin(); err != nil {
			return 0, err
		}
	}
}

// behindMember looks at what follows a gzip member. It returns nil before another member,
// and io.EOF at the end of the file, up to which there may be zero bytes.
func behindMember(in *bufio.Reader, offset func() uint64) error {
	for first := true; ; first = false {
		head, err := in.Peek(2)
		switch {
		case len(head) == 0:
			return err
		case first && head[0] == 0x1f && (len(head) == 1 || head[1] == 0x8b):
			return nil
		}
		head, _ = in.Peek(in.Buffered())
		for i, b := range head {
			if b != 0 {
				return &garbageError{"gzip", offset() + uint64(i), b}
			}
		}
		in.Discard(len(head))
	}
}

// garbageError says that there are other bytes after the compressed data.
type garbageError struct {
	kind   string
	offset uint64 // in the file
	found  byte   // there
}

func (e *garbageError) Error() string {
	return fmt.Sprintf("trailing garbage after the %s data: found %s at offset %d, expected the end of the file",
		e.kind, showByte(e.found), e.offset)
}

var errZstdGarbage = errors.New("trailing garbage after the zstd data: expected another frame or the end of the file")
