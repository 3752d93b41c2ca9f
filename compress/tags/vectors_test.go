package tags

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"orcomgo/bins/parse"
	"orcomgo/internal/testvector"
)

// TestVectors compares streams with testdata/vectors/tags.txt and kinetics.txt.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/tags.txt", func(t *testing.T, v *testvector.Vector) {
		fields := v.Strings(t, "fields")
		got, err := Decode(v.Bytes(t, "bytes", Encode(fields, nil)), len(fields), nil, 1<<20)
		if err != nil || !slices.Equal(got, fields) {
			t.Errorf("decoded %q: %v", got, err)
		}
	})
	testvector.Run(t, "../../testdata/vectors/kinetics.txt", func(t *testing.T, v *testvector.Vector) {
		letters, values := v.Strings(t, "letters"), v.Ints(t, "values")
		bases := func(i int) []byte { return []byte(letters[i]) }
		var columns []*column
		for _, tag := range v.Words(t, "tags") {
			c := &column{key: key{tag[0], tag[1], 'B', 'C'}}
			for i, l := range letters {
				value := make([]byte, len(l))
				for k := range value {
					value[k] = byte(values[k])
				}
				values = values[len(l):]
				c.add(c.key, value, i, len(letters))
			}
			columns = append(columns, c)
		}
		var stream []byte
		given := &reads{bases: bases}
		for _, c := range columns {
			coded, _ := given.encode(c, math.MaxFloat64)
			stream = parse.AppendBlock(stream, coded)
		}
		in := &parse.Cursor{Rest: v.Bytes(t, "bytes", stream)}
		given = &reads{bases: bases}
		for _, c := range columns {
			want := c.bytes
			if err := given.decode(c, in.Block(), len(want)); err != nil || !bytes.Equal(c.bytes, want) {
				t.Errorf("%s: decoded %d: %v", c.key[:2], c.bytes, err)
			}
		}
	})
}
