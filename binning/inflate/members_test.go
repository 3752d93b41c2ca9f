package inflate

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"orcomgo/internal/deflate"
	"orcomgo/internal/testrun"
)

// inflateMembers inflates members one by one with compress/flate. It returns false if one is not what
// its footer says.
func inflateMembers(b []byte, members []Member) ([]byte, bool) {
	var text []byte
	for _, m := range members {
		part, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b[m.From:][:m.Size])), int64(m.Length)+1))
		if err != nil || len(part) != int(m.Length) || crc32.ChecksumIEEE(part) != m.CRC {
			return text, false
		}
		text = append(text, part...)
	}
	return text, true
}

func TestFindMembers(t *testing.T) {
	text := fastq(21, 100_000)
	data := bgzip(text)
	one := bgzip(text[:1000])
	first := len(one) - 28 // the empty member has 28 bytes
	with := func(b []byte, at int, v ...byte) []byte {
		b = slices.Clone(b)
		copy(b[at:], v)
		return b
	}
	const all = 1 << 30
	for _, c := range []struct {
		name         string
		data         []byte
		room         int
		members, end int
		stop         Stop
	}{
		{"nothing", nil, all, 0, 0, AtEnd},
		{"a file", data, all, 5, len(data), AtEnd},
		{"two files", slices.Concat(data, data), all, 10, 2 * len(data), AtEnd},
		{"no empty member", one[:first], all, 1, first, AtEnd},
		{"the empty member", one[first:], all, 1, 28, AtEnd},
		{"a byte missing", one[:first-1], all, 0, 0, Partial},
		{"a byte missing at the end", one[:len(one)-1], all, 1, first, Partial},
		{"a header alone", one[:first+18], all, 1, first, Partial},
		{"a header less a byte", one[:first+17], all, 1, first, Partial},
		{"a byte of a header", one[:first+1], all, 1, first, Partial},
		{"a byte of something else", append(one[:first:first], 'x'), all, 0, 0, Other},
		{"padding", append(slices.Clone(one), 0, 0), all, 2, len(one), Other},
		{"another kind of gzip", slices.Concat(one, goLevel(6)(text)), all, 2, len(one), Other},
		{"only another kind of gzip", goLevel(6)(text), all, 0, 0, Other},
		{"no room", data, 29_999, 0, 0, Full},
		{"room for one", data, 59_999, 1, -1, Full},
		{"room for all", data, 100_000, 5, len(data), AtEnd},
		{"no room, but for the empty one", one[first:], 0, 1, 28, AtEnd},
		{"a size less than a header and a footer", with(one, 16, 24, 0), all, 0, 0, Other},
		{"a size less by one", with(one, 16, one[16]-1), all, 0, 0, Other},
		{"a size more by one", with(one, 16, one[16]+1), all, 0, 0, Other},
		{"a stream of no bytes", append(with(one[first:], 16, 25, 0)[:18], make([]byte, 8)...), all, 0, 0, Other},
		{"more text than BGZF has", with(one, first-4, 1, 0, 1, 0), all, 0, 0, Other},
		{"a longer extra field", with(one, 10, 7, 0), all, 0, 0, Other},
		{"a name", with(one, 3, 12), all, 0, 0, Other},
	} {
		kept := []Member{{1, 2, 3, 4}}
		f := FindMembers(c.data, c.room, kept)
		if f.Members[0] != kept[0] {
			t.Errorf("%s: the members before were not kept", c.name)
		}
		f.Members = f.Members[1:]
		if c.end < 0 {
			c.end = f.End
		}
		if len(f.Members) != c.members || f.End != c.end || f.Stop != c.stop {
			t.Errorf("%s: %d members, end %d, stop %d; want %d, %d, %d", c.name, len(f.Members), f.End, f.Stop, c.members, c.end, c.stop)
		}
		if f.Stop == AtEnd && c.members > 1 {
			got, ok := inflateMembers(c.data, f.Members)
			if want, err := readPlainly(c.data); !ok || err != nil || !bytes.Equal(got, want) || f.Text != len(want) {
				t.Errorf("%s: %d bytes, %v; want %d, %v", c.name, len(got), ok, len(want), err)
			}
		}
	}
}

// checkMembers checks what is found in any bytes.
func checkMembers(t *testing.T, data []byte, room int) {
	t.Helper()
	f := FindMembers(data, room, nil)
	at, text := 0, 0
	for i, m := range f.Members {
		size := bgzfHeader + int(m.Size) + footerSize
		if int(m.From) != at+bgzfHeader || at+size > len(data) || !deflate.IsBGZF(data[at:]) || bgzfSize(data[at:]) != size ||
			m.Length > bgzfMember || m.CRC != binary.LittleEndian.Uint32(data[at+size-8:]) ||
			m.Length != binary.LittleEndian.Uint32(data[at+size-4:]) {
			t.Fatalf("member %d of %d at %d: %+v", i, len(f.Members), at, m)
		}
		at += size
		text += int(m.Length)
	}
	if f.End != at || f.Text != text || text > max(room, 0) || (f.Stop == AtEnd) != (at == len(data)) {
		t.Fatalf("%d of %d bytes, %d of %d bytes of text; got %d, %d, stop %d", at, len(data), text, room, f.End, f.Text, f.Stop)
	}
	// More bytes behind change nothing of what was found, unless they show that the few bytes behind the last member can't follow one.
	behind := len(data) - f.End
	if f.Stop == Full {
		behind -= bgzfSize(data[f.End:])
	}
	decided := behind == 0 || behind >= bgzfHeader
	more := FindMembers(append(data[:len(data):len(data)], 0x1f, 0x8b, 8), room, nil)
	if decided && (len(more.Members) < len(f.Members) || !slices.Equal(more.Members[:len(f.Members)], f.Members) ||
		f.Stop == Other && (more.Stop != Other || more.End != f.End) || f.Stop == Full && more.Stop != Full) {
		t.Fatalf("%d members, stop %d; with bytes behind %d, %d", len(f.Members), f.Stop, len(more.Members), more.Stop)
	}
	checkDecoder(t, data, f.Members)
	// All members right, and nothing else: the same text as a reader's.
	if got, ok := inflateMembers(data, f.Members); ok && f.Stop == AtEnd && len(f.Members) > 0 && f.Members[len(f.Members)-1].Length == 0 {
		if want, err := readPlainly(data); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes; a reader has %d, %v", len(got), len(want), err)
		}
	}
}

// checkDecoder compares a MemberDecoder with compress/flate.
func checkDecoder(t *testing.T, data []byte, members []Member) {
	t.Helper()
	total := 0
	for _, m := range members {
		total += int(m.Length)
	}
	want, _ := inflateMembers(data, members)
	const guard = 2 * slack
	dst := bytes.Repeat([]byte{0xa5}, total+guard)
	texts := make([][]byte, len(members))
	right := NewMemberDecoder().Inflate(dst, data, members, func(i int, text []byte) {
		if len(text) != int(members[i].Length) || texts[i] != nil {
			t.Fatalf("member %d has %d bytes, want %d, once", i, len(text), members[i].Length)
		}
		texts[i] = append([]byte{}, text...)
	})
	got := slices.Concat(texts[:right]...)
	if slices.ContainsFunc(texts[:right], func(text []byte) bool { return text == nil }) || right < len(members) && texts[right] != nil {
		t.Fatalf("%d of %d members are right, but others were reported", right, len(members))
	}
	if !bytes.Equal(got, want) || !bytes.Equal(dst[:len(got)], want) {
		t.Fatalf("%d of %d members are right, %d bytes; want %d bytes", right, len(members), len(got), len(want))
	}
	for i, c := range dst[len(dst)-guard:] {
		if c != 0xa5 {
			t.Fatalf("byte %d behind the text was written", i)
		}
	}
}

func TestFindMembersDamaged(t *testing.T) {
	testrun.NoRace(t)
	rng := rand.New(rand.NewPCG(22, 22))
	data := slices.Concat(bgzip(fastq(23, 70_000)), bgzip(nil), bgzip([]byte("x")))
	for range 3000 {
		b := slices.Clone(data[:rng.IntN(len(data)+1)])
		for k := rng.IntN(3); k > 0 && len(b) > 0; k-- {
			at := rng.IntN(len(b))
			if rng.IntN(2) == 0 {
				at %= 20
			}
			b[at] ^= 1 << rng.IntN(8)
		}
		checkMembers(t, b, rng.IntN(100_000))
	}
}

// TestMemberDecoder has members of all kinds of blocks and matches, and of many sizes; then each time with a damaged one.
func TestMemberDecoder(t *testing.T) {
	testrun.NoRace(t)
	rng := rand.New(rand.NewPCG(25, 25))
	texts := samples()
	texts["repeats"] = slices.Concat(repeats(), repeats())
	for name, text := range texts {
		for _, level := range []int{-2, 0, 1, 6, 9} {
			var data []byte
			var members []Member
			for rest := text[:min(len(text), 200_000)]; len(rest) > 0; {
				part := rest[:min(len(rest), 1+rng.IntN(1<<(4+rng.IntN(13))))]
				rest = rest[len(part):]
				gz := goLevel(level)(part)
				n, err := deflate.HeaderSize(gz)
				if err != nil {
					t.Fatal(name, err)
				}
				size := len(gz) - n - footerSize
				members = append(members, Member{uint32(len(data) + n), uint32(size), uint32(len(part)), crc32.ChecksumIEEE(part)})
				data = append(data, gz...)
			}
			checkDecoder(t, data, members)
			for k := 0; k < 10 && len(data) > 0; k++ {
				damaged := slices.Clone(data)
				damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
				checkDecoder(t, damaged, members)
			}
		}
	}
}

func FuzzFindMembers(f *testing.F) {
	data := bgzip(fastq(24, 1000))
	f.Add(data, 1<<20)
	f.Add(data[:len(data)-3], 1<<20)
	f.Add(slices.Concat(data, data), 1500)
	f.Add(slices.Concat(data, goLevel(6)(nil)), 1<<20)
	f.Fuzz(checkMembers)
}
