package binning

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/ulikunitz/xz"
)

// maxXZDictionary is how large the dictionary of an input of xz may be, which is memory that the data asks for: xz -9 takes 64 MiB.
const maxXZDictionary = 1 << 30

func isXZ(head []byte) bool { return bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")) }

// isBzip2 reports whether an input begins as bzip2 does: with a block, or the end of a stream without blocks.
func isBzip2(head []byte) bool {
	if len(head) < 10 || string(head[:3]) != "BZh" || head[3] < '1' || head[3] > '9' {
		return false
	}
	magic := string(head[4:10])
	return magic == "\x31\x41\x59\x26\x53\x59" || magic == "\x17\x72\x45\x38\x50\x90"
}

// newXZ returns a reader of the text of xz.
func newXZ(in *bufio.Reader) (io.Reader, error) {
	head, _ := in.Peek(64)
	if n := xzDictionary(head); n > maxXZDictionary {
		return nil, fmt.Errorf("the xz data needs %d MB of memory for its dictionary, expected at most %d", n/1e6, maxXZDictionary/1_000_000)
	}
	d := &decompressor{format: "xz", in: watched{r: in}}
	z, err := xz.NewReader(bufio.NewReaderSize(&d.in, decompressBuffer))
	if err != nil {
		return nil, d.explain(err)
	}
	// The library takes a file that ends between two blocks for complete.
	d.r, d.complete = z, func() bool { // maybe zeros follow the end of a stream
		tail := d.in.tail
		return len(tail) == xzFooter && string(tail[10:]) == "YZ" && binary.LittleEndian.Uint32(tail) == crc32.ChecksumIEEE(tail[4:10])
	}
	return d, nil
}

// xzDictionary returns the size in bytes of the dictionary of the first block of xz, and 0 if it can't be found: then decoding fails.
// xz gives all blocks the same.
func xzDictionary(head []byte) uint64 {
	const streamHeader = 12
	if len(head) < streamHeader+2 || head[streamHeader] == 0 { // 0: there are no blocks
		return 0
	}
	flags, rest := head[streamHeader+1], head[streamHeader+2:]
	for _, has := range []byte{0x40, 0x80} { // the compressed and the uncompressed size
		if flags&has != 0 {
			_, n := binary.Uvarint(rest)
			rest = rest[max(n, 0):]
		}
	}
	if len(rest) < 3 || rest[0] != 0x21 || rest[1] != 1 { // LZMA2, and the length of its properties
		return 0
	}
	bits := rest[2] & 63
	return uint64(2|bits&1) << (bits/2 + 11)
}

// newBzip2 returns a reader of the text of bzip2, of one stream or of several.
func newBzip2(in *bufio.Reader) io.Reader {
	d := &decompressor{format: "bzip2", in: watched{r: in}}
	d.r = bzip2.NewReader(bufio.NewReaderSize(&d.in, decompressBuffer))
	return d
}

// decompressor reads text of a format, and says what is wrong with damaged data.
type decompressor struct {
	format   string
	in       watched
	r        io.Reader
	complete func() bool // whether the data ends as it must, if not nil
}

// decompressBuffer is how many bytes of data are read at a time.
const decompressBuffer = 1 << 16

func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && (err != io.EOF || d.in.err != nil || d.complete != nil && !d.complete()) {
		err = d.explain(err)
	}
	return n, err
}

// explain returns what made decompression fail: an error of reading, the end of the file, or damage.
func (d *decompressor) explain(err error) error {
	switch {
	case d.in.err != nil:
		return d.in.err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	text := err.Error()
	for _, prefix := range []string{"xz: ", "lzma: ", "bzip2 data invalid: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return fmt.Errorf("the %s data is damaged: %s", d.format, text)
}

// watched reads the data of a decompressor. It remembers an error of reading, the end of the file excepted, and how the data ends.
type watched struct {
	r    io.Reader
	err  error
	tail []byte // the last bytes up to the last one that is not zero, at most xzFooter of them
	zero int    // zeros after them
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF {
		w.err = err
	}
	text := bytes.TrimRight(p[:n], "\x00")
	if len(text) > 0 {
		w.tail = append(append(w.tail, make([]byte, min(w.zero, xzFooter))...), text[max(0, len(text)-xzFooter):]...)
		w.tail = append(w.tail[:0], w.tail[max(0, len(w.tail)-xzFooter):]...)
		w.zero = 0
	}
	w.zero += n - len(text)
	return n, err
}

// xzFooter is the length of the end of a stream of xz in bytes: a checksum of the next 6, the size of the index, flags, and YZ.
const xzFooter = 12
