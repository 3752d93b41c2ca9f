package names

import (
	"fmt"

	"orcomgo/bins/parse"
	rc "orcomgo/compress/rangecoder"
)

// Decoder decodes the sections of an Encoder, in their order. The zero value is ready for the first one.
type Decoder struct {
	c     *codec // nil where no section can follow
	rule  rule   // of second mates
	mates bool
}

// Continues reports whether a section begins with the models that the one before it has left.
func Continues(data []byte) bool { return len(data) > 0 && data[0] == formatNext }

// Decode returns the first k of the n names of the next section, each followed by '\n', given first, not nil, if they are those of second
// mates. All names of the section are at most maxBytes long. What follows the first k in the section is neither decoded nor
// checked, and no section can be decoded after it if k < n. An error wraps ErrCorrupt.
func (d *Decoder) Decode(data, first []byte, n, k int, maxBytes uint64) ([]byte, error) {
	names, err := d.decode(data, first, n, k, maxBytes)
	if err != nil || k < n {
		d.c = nil
	}
	return names, err
}

func (d *Decoder) decode(data, first []byte, n, k int, maxBytes uint64) ([]byte, error) {
	if len(data) == 0 {
		return nil, ErrCorrupt
	}
	switch f := data[0]; {
	case f == formatEmpty:
		if n != 0 || len(data) != 1 {
			return nil, ErrCorrupt
		}
		return []byte{}, nil
	case f == formatNext && n > 0:
		if d.c == nil || d.mates != (first != nil) {
			return nil, fmt.Errorf("%w: there are no names before it", ErrCorrupt)
		}
		data = data[1:]
	case f == formatFields && n > 0:
		d.c, d.mates = newCodec(), first != nil
		data = data[1:]
		if d.mates {
			if len(data) < 3 || data[2] == '\n' {
				return nil, ErrCorrupt
			}
			d.rule, data = rule{data[0], data[1], data[2]}, data[3:]
		}
	default:
		return nil, fmt.Errorf("%w: format %d", ErrCorrupt, data[0])
	}
	size, used := parse.Uvarint(data)
	if used <= 0 || size > maxBytes || size < uint64(n) {
		return nil, ErrCorrupt
	}
	data = data[used:]
	c := d.c
	c.Coder = *rc.DecodeFrom(data)
	c.limit = int(size)
	// The buffer grows as names are decoded, so that a short damaged stream cannot make a large one.
	c.out = make([]byte, 0, min(size, 64*uint64(len(data))+4096))
	for i := range min(k, n) {
		if first != nil {
			end := lineLen(first)
			if end == 0 {
				return nil, fmt.Errorf("%w: fewer first mates than names", ErrCorrupt)
			}
			c.mate(nil, first[:end-1], d.rule)
			first = first[end:]
		} else {
			c.name(nil, nil)
		}
		c.out = append(c.out, '\n')
		if c.bad || len(c.out)+(n-1-i) > c.limit {
			return nil, ErrCorrupt
		}
	}
	out := c.out
	c.out = nil
	if k < n {
		return out, nil
	}
	if err := c.Dec.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if len(out) != c.limit {
		return nil, ErrCorrupt
	}
	return out, nil
}
