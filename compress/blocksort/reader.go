package blocksort

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"
)

// Reader decompresses a stream. It reads some bytes beyond the end of the stream from a reader that is no io.ByteReader.
type Reader struct {
	options
	r       input
	started bool
	index   uint64
	texts   [][]byte // decoded and not read yet
	first   []byte   // all of the first of them, of which texts has what is left
	err     error
	spaces  spaces
}

// input is what a Reader reads from.
type input interface {
	io.Reader
	io.ByteReader
}

// NewReader returns a Reader of the stream that r begins with.
func NewReader(r io.Reader, list ...Option) (*Reader, error) {
	o, err := newOptions(MaxBlockSize, list)
	if err != nil {
		return nil, err
	}
	in, ok := r.(input)
	if !ok {
		in = bufio.NewReaderSize(r, 1<<16)
	}
	z := &Reader{options: o, r: in}
	if err := z.spaces.openDevice(&z.options); err != nil {
		return nil, err
	}
	return z, nil
}

// Close frees what a Reader with a GPU holds. It is needed only for one that was not read up to the end or an error. Nothing can be read
// after it.
func (z *Reader) Close() error {
	z.err, z.texts = ErrClosed, nil
	return z.spaces.close()
}

// Read returns text of blocks that are whole: a block is delivered after its hash was compared. After the last one it returns io.EOF; at a
// damaged one ErrCorrupt, or the error of the underlying reader.
func (z *Reader) Read(p []byte) (int, error) {
	for len(z.texts) == 0 {
		if z.err != nil {
			return 0, z.err
		}
		z.fill()
	}
	if z.first == nil {
		z.first = z.texts[0]
	}
	n := copy(p, z.texts[0])
	if z.texts[0] = z.texts[0][n:]; len(z.texts[0]) == 0 {
		z.spaces.putText(z.first)
		z.texts, z.first = z.texts[1:], nil
	}
	return n, nil
}

// fill decodes a large block, or some small ones side by side. It sets err at the end, and after an error.
func (z *Reader) fill() {
	defer func() {
		if z.err != nil {
			if err := z.spaces.close(); z.err == io.EOF && err != nil {
				z.err = err
			}
		}
	}()
	if !z.started {
		z.started = true
		var m [len(magic)]byte
		if _, err := io.ReadFull(z.r, m[:]); err != nil {
			z.err = cutOff(err)
			if z.err == ErrCorrupt {
				z.err = ErrFormat
			}
			return
		}
		if m != magic {
			z.err = ErrFormat
			return
		}
	}
	var headers []*header
	var bodies [][]byte
	for sum := 0; z.err == nil && len(headers) < z.threads && sum < smallBlock; {
		h, body, err := z.next()
		if err != nil {
			z.err = err
			break
		}
		headers, bodies = append(headers, h), append(bodies, body)
		sum += h.size
	}
	texts := make([][]byte, len(headers))
	errs := make([]error, len(headers))
	var group errgroup.Group
	for i, h := range headers {
		group.Go(func() error {
			s := z.spaces.get()
			defer z.spaces.put(s)
			texts[i], errs[i] = s.decodeBlock(h, bodies[i], z.index+uint64(i), max(z.threads/len(headers), 1))
			return nil
		})
	}
	group.Wait() // errors are in errs
	for i, text := range texts {
		if errs[i] != nil {
			z.err = errs[i]
			return
		}
		z.texts = append(z.texts, text)
	}
	z.index += uint64(len(headers))
}

// next reads a block. At the end of the stream it returns io.EOF.
func (z *Reader) next() (*header, []byte, error) {
	size, err := z.uvarint()
	if err != nil {
		return nil, nil, err
	}
	if size == 0 {
		return nil, nil, io.EOF
	}
	body, err := z.uvarint()
	if err != nil {
		return nil, nil, err
	}
	if size > MaxBlockSize || body>>1 > MaxBlockSize {
		return nil, nil, ErrBlockSize
	}
	var hash [8]byte
	if _, err := io.ReadFull(z.r, hash[:]); err != nil {
		return nil, nil, cutOff(err)
	}
	h := &header{int(size), int(body >> 1), body&1 == 1, binary.LittleEndian.Uint64(hash[:])}
	if err := h.check(z.blockSize); err != nil {
		return nil, nil, err
	}
	// The buffer grows as the bytes come: a forged size takes no memory.
	var buffer bytes.Buffer
	if _, err := io.CopyN(&buffer, z.r, int64(h.body)); err != nil {
		return nil, nil, cutOff(err)
	}
	return h, buffer.Bytes(), nil
}

// uvarint reads a number of at most 35 bits.
func (z *Reader) uvarint() (uint64, error) {
	v := uint64(0)
	for shift := 0; shift < 35; shift += 7 {
		b, err := z.r.ReadByte()
		if err != nil {
			return 0, cutOff(err)
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, ErrCorrupt
}

// cutOff returns ErrCorrupt for the end of the input, and other errors of the underlying reader as they are.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrCorrupt
	}
	return err
}
