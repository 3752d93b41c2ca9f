package parse

import (
	"encoding/binary"
	"reflect"
	"testing"
)

func TestCursor(t *testing.T) {
	b := binary.AppendUvarint(nil, 300)
	b = append(b, 2, 'a', 'b', 7)
	b = binary.LittleEndian.AppendUint64(b, 1<<40)
	b = append(b, 1, 2, 3)
	b = binary.AppendVarint(b, -70)
	b = append(b, 9, 2, 'a', 'b')
	c := Cursor{Rest: b}
	var three [3]byte
	if c.AtMost(300) != 300 || c.Text() != "ab" || c.ByteAtMost(7) != 7 || c.Uint64() != 1<<40 {
		t.Fatal("what was taken is not what was written")
	}
	c.Copy(three[:])
	if c.Varint(70) != -70 || c.Int(9) != 9 || string(c.Block()) != "ab" {
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

// TestFields: fields that are read are those that were appended, and none of them can be cut off.
func TestFields(t *testing.T) {
	type fields struct {
		number  int
		signed  int64
		eight   uint64
		byte    byte
		three   [3]byte
		text    string
		a, b, c bool
		list    []uint32
	}
	code := func(f *Fields, v *fields) {
		Number(f, &v.number, 300)
		f.Varint(&v.signed, 70)
		f.Uint64(&v.eight)
		Byte(f, &v.byte, 7)
		f.Bytes(v.three[:])
		f.Text(&v.text)
		f.Flags(&v.a, &v.b, &v.c)
		List(f, &v.list, 1, "numbers", func(n *uint32) { Number(f, n, 1<<20) })
	}
	want := fields{300, -70, 1 << 40, 7, [3]byte{1, 2, 3}, "ab", true, false, true, []uint32{5, 1 << 20}}
	var f Fields
	code(&f, &want)
	for n := range len(f.Out) + 1 {
		var got fields
		c := &Cursor{Rest: f.Out[:n]}
		if code(&Fields{In: c}, &got); c.Done() != (n == len(f.Out)) || c.Done() && !reflect.DeepEqual(got, want) {
			t.Errorf("%d of %d bytes: %+v, %q", n, len(f.Out), got, c.Reason)
		}
	}
}
