package parse

import (
	"encoding/binary"
	"math"
	"testing"
)

func TestCursor(t *testing.T) {
	b := binary.AppendUvarint(nil, 300)
	b = append(b, 2, 'a', 'b', 7)
	b = binary.LittleEndian.AppendUint64(b, 1<<40)
	b = append(b, 1, 2, 3)
	b = binary.AppendVarint(b, -70)
	b = append(b, 9, 2, 'a', 'b')
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(-1.5))
	c := Cursor{Rest: b}
	var three [3]byte
	if c.AtMost(300) != 300 || c.Text() != "ab" || c.ByteAtMost(7) != 7 || c.Uint64() != 1<<40 {
		t.Fatal("what was taken is not what was written")
	}
	c.Copy(three[:])
	if c.Varint(70) != -70 || c.Int(9) != 9 || string(c.Block()) != "ab" || c.Float64() != -1.5 {
		t.Fatal("what was taken is not what was written")
	}
	if three != [3]byte{1, 2, 3} || !c.Done() || c.Failed() {
		t.Fatalf("%v, %d bytes left, reason %q", three, len(c.Rest), c.Reason)
	}
}

func TestCursorFails(t *testing.T) {
	const badNumber = "a number is cut off, too large, or has more bytes than it needs"
	cases := []struct {
		name   string
		data   string
		take   func(c *Cursor)
		reason string
	}{
		{"number cut off", "\x80", func(c *Cursor) { c.Uvarint() }, badNumber},
		{"number too long", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", func(c *Cursor) { c.Uvarint() }, badNumber},
		{"number with a byte too many", "\x85\x00", func(c *Cursor) { c.Uvarint() }, badNumber},
		{"number too large", "\x09", func(c *Cursor) { c.AtMost(8) }, "9 where at most 8 is possible"},
		{"signed number cut off", "\x80", func(c *Cursor) { c.Varint(1) }, badNumber},
		{"signed number too large", "\x09", func(c *Cursor) { c.Varint(4) }, "-5 where -4 to 4 is possible"},
		{"no number possible", "\x00", func(c *Cursor) { c.Int(-1) }, "a number where none is possible"},
		{"block cut off", "\x02a", func(c *Cursor) { c.Block() }, "2 bytes in 1 bytes"},
		{"too many", "\x03ab", func(c *Cursor) { c.Count(1, "things") }, "3 things in 2 bytes"},
		{"no byte", "", func(c *Cursor) { c.Byte() }, "it ends early"},
		{"byte too large", "\x02", func(c *Cursor) { c.ByteAtMost(1) }, "2 where at most 1 is possible"},
		{"number of eight bytes cut off", "1234567", func(c *Cursor) { c.Uint64() }, "it ends early"},
		{"text cut off", "\x02a", func(c *Cursor) { c.Text() }, "2 bytes of text in 1 bytes"},
		{"the first reason counts", "", func(c *Cursor) { c.Byte(); c.Uvarint() }, "it ends early"},
	}
	for _, x := range cases {
		c := Cursor{Rest: []byte(x.data)}
		if x.take(&c); c.Reason != x.reason || !c.Failed() || c.Done() {
			t.Errorf("%s: reason %q, expected %q", x.name, c.Reason, x.reason)
		}
		if c.Uvarint() != 0 || c.Byte() != 0 || c.Bytes(1) != nil {
			t.Errorf("%s: it goes on after the failure", x.name)
		}
	}
}
