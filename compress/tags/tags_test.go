package tags

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins/bam"
)

// head is what precedes the tags of an unaligned read.
const head = "\x00\x00\x48\x12\x04\x00"

// array returns a tag that is an array.
func array(tag string, element byte, n int, data []byte) string {
	return tag + "B" + string(element) + string(binary.LittleEndian.AppendUint32(nil, uint32(n))) + string(data)
}

// draw returns n fields of records that have some of all types of tags.
func draw(rng *rand.Rand, n int) (fields []string) {
	random := func(n int) []byte {
		b := make([]byte, n)
		rng.Read(b)
		return b
	}
	for i := range n {
		tags := []string{
			"RGZgroup\x00", fmt.Sprintf("XZZ%x\x00", rng.Int63()), "XEZ\x00", "XHH1AE3\x00", fmt.Sprintf("MMZC+m,%d,3;\x00", rng.Intn(9)),
			"XAAq", "XcC" + string(random(1)), "Xcc" + string(random(1)), "Xcs" + string(random(2)), "XcS" + string(random(2)),
			"Xci" + string(random(4)), "XcI" + string(random(4)), "Xff" + string(random(4)), "XNZa\nb\x00",
		}
		for _, element := range "cCsSiIf" {
			k := rng.Intn(50)
			tags = append(tags, array("X"+string(element), byte(element), k, random(k*bam.Widths[element])))
		}
		if i%3 == 0 {
			rng.Shuffle(len(tags), func(a, b int) { tags[a], tags[b] = tags[b], tags[a] })
		}
		fields = append(fields, head+strings.Join(tags[:len(tags)-rng.Intn(4)], ""))
	}
	return fields
}

func check(t *testing.T, name string, fields []string) int {
	t.Helper()
	data := Encode(fields, nil)
	got, err := Decode(data, len(fields), nil, math.MaxUint64)
	if err != nil || !slices.Equal(got, fields) {
		t.Fatalf("%s: %d fields came back otherwise: %v", name, len(got), err)
	}
	return len(data)
}

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for n := range 20 {
		check(t, fmt.Sprint(n, " records"), draw(rng, n*n))
	}
	many := head
	for i := range 1000 {
		many += fmt.Sprintf("%c%cC%c", 'A'+i/40, '0'+i%40, i)
	}
	check(t, "a thousand tags", []string{many, many, head})
	for name, text := range map[string]string{"nothing": "", "no tags": head, "cut": head + "RG", "no end": head + "RGZx",
		"no type":     head + "XXQ123",
		"no elements": head + "XXB", "long array": head + "XXBC\xff\xff\xff\xff", "element A": head + "XXBA\x01\x00\x00\x00a",
		"after a tag": head + "XAAqzz", "empty array": head + "XXBS\x00\x00\x00\x00", "bits": "\xff" + head} {
		check(t, name, []string{text, head, text})
	}
}

// TestSizes: constants and counters take next to nothing.
func TestSizes(t *testing.T) {
	var fields []string
	for i := range 5000 {
		fields = append(fields, fmt.Sprintf("%sRGZ4f2ca1\x00rqf\x00\x00\x80\x3fzmi%snpi\x0a\x00\x00\x00", head,
			binary.LittleEndian.AppendUint32(nil, uint32(i*7))))
	}
	if n := check(t, "counters", fields); n > 400 {
		t.Errorf("%d bytes", n)
	}
}

// drawKinetics returns fields with arrays of kinetics, and the reads that they belong to. The times depend on the bases around, in the
// order of the strand that was copied, and those of the second array on those of the first.
func drawKinetics(rng *rand.Rand, n int) (fields []string, letters []string) {
	for range n {
		read := make([]byte, 100+rng.Intn(2000))
		for i := range read {
			read[i] = "ACGT"[rng.Intn(4)]
		}
		times := func(b []byte) (first, second []byte) {
			for i := range b {
				median := 20.0
				for k, effect := range []float64{0.3, 0.2, 0, 0, 0.1} {
					if i+k < len(b) {
						median *= math.Exp(effect * float64(strings.IndexByte("ACGT", b[i+k])))
					}
				}
				noise := rng.NormFloat64()
				first = append(first, byte(min(median*math.Exp(0.4*noise), 255)))
				second = append(second, byte(min(median*math.Exp(0.2*noise+0.3*rng.NormFloat64()), 255)))
			}
			return first, second
		}
		other := bytes.Clone(read)
		slices.Reverse(other)
		for i, l := range other {
			other[i] = complement[l]
		}
		fi, fp := times(read)
		ri, rp := times(other)
		fields = append(fields, head+array("fi", 'C', len(fi), fi)+array("fp", 'C', len(fp), fp)+"fnC5"+array("ri", 'C', len(ri), ri)+
			array("rp", 'C', len(rp), rp))
		letters = append(letters, string(read))
	}
	return fields, letters
}

// TestKinetics: given the bases, arrays of times take less; of either strand and of reads without some of them.
func TestKinetics(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	fields, letters := drawKinetics(rng, 60)
	bases := func(i int) []byte { return []byte(letters[i]) }
	given := func() int {
		t.Helper()
		data := Encode(fields, bases)
		got, err := Decode(data, len(fields), bases, math.MaxUint64)
		if err != nil || !slices.Equal(got, fields) {
			t.Fatalf("%d fields came back otherwise: %v", len(got), err)
		}
		return len(data)
	}
	with, without := given(), check(t, "not given", fields)
	if with > without*98/100 {
		t.Errorf("%d bytes, %d given the bases", without, with)
	}
	data := Encode(fields, bases)
	for i := 0; i < len(data); i += 1 + len(data)/20 {
		bad := bytes.Clone(data)
		bad[i] ^= 1 << (i % 8)
		Decode(bad, len(fields), bases, math.MaxUint64) // no panic
	}
	shorter := func(i int) []byte { return []byte(letters[i][1:]) }
	if got, err := Decode(data, len(fields), shorter, math.MaxUint64); err == nil {
		t.Errorf("other bases gave %d fields", len(got))
	}
	for i := range fields {
		if i%3 == 0 {
			fields[i] = head
		}
	}
	given()
	fields[7] = head + array("fi", 'C', 3, []byte("abc"))
	given()
	fields, letters = fields[:1], letters[:1]
	given()
}

func TestDamage(t *testing.T) {
	fields := draw(rand.New(rand.NewSource(2)), 4)
	data := Encode(fields, nil)
	for i := 0; i < len(data); i += 1 + len(data)/200 {
		bad := bytes.Clone(data)
		bad[i] ^= 1 << (i % 8)
		Decode(bad, len(fields), nil, math.MaxUint64) // no panic
		if _, err := Decode(data[:i], len(fields), nil, math.MaxUint64); err == nil {
			t.Fatalf("%d bytes of %d passed", i, len(data))
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(draw(rand.New(rand.NewSource(3)), 5), nil), 5)
	f.Add(Encode([]string{head}, nil), 1)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if n < 0 || n > 1<<12 {
			return
		}
		if fields, err := Decode(data, n, nil, math.MaxUint64); err == nil {
			check(t, "again", fields)
		}
	})
}

// FuzzKinetics: whatever the stream is, decoding it given the bases ends, and what comes is coded again.
func FuzzKinetics(f *testing.F) {
	fields, letters := drawKinetics(rand.New(rand.NewSource(6)), 4)
	bases := func(i int) []byte { return []byte(letters[i%len(letters)]) }
	f.Add(Encode(fields, bases), len(fields))
	f.Add(Encode(fields[:1], bases), 1)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if n < 0 || n > 1<<8 {
			return
		}
		if got, err := Decode(data, n, bases, 1<<20); err == nil {
			again, err := Decode(Encode(got, bases), n, bases, math.MaxUint64)
			if err != nil || !slices.Equal(again, got) {
				t.Fatalf("%d fields came back otherwise: %v", len(again), err)
			}
		}
	})
}

func BenchmarkKinetics(b *testing.B) {
	fields, letters := drawKinetics(rand.New(rand.NewSource(5)), 400)
	bases := func(i int) []byte { return []byte(letters[i]) }
	size := 0
	for _, f := range fields {
		size += len(f)
	}
	data := Encode(fields, bases)
	for b.Loop() {
		if _, err := Decode(data, len(fields), bases, math.MaxUint64); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(size))
}
