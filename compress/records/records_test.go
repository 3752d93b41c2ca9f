package records

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/compress/general"
	"orcomgo/internal/codectest"
	"orcomgo/internal/tasks"
	"orcomgo/internal/testrun"
	"orcomgo/internal/testvector"
)

// metrics returns data like that of a sequencer: a header of two bytes, and records of lane, tile, cycle, two floats, of which one
// follows from the other, two counts whose sum is constant for a tile, and a time.
func metrics(cycles int) []byte {
	r := rand.New(rand.NewSource(7))
	b := []byte{3, 26}
	for cycle := range cycles {
		for tile := range 20 {
			b = binary.LittleEndian.AppendUint16(b, uint16(1+tile/10))
			b = binary.LittleEndian.AppendUint16(b, uint16(1101+tile%10))
			b = binary.LittleEndian.AppendUint16(b, uint16(cycle+1))
			f := float32(1 + r.NormFloat64()/20)
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f*-0.31))
			n := uint32(100000 + r.Intn(50000))
			b = binary.LittleEndian.AppendUint32(b, n)
			b = binary.LittleEndian.AppendUint32(b, uint32(300000+1000*tile)-n)
			b = binary.LittleEndian.AppendUint32(b, uint32(cycle*100000+tile*3000+r.Intn(500)))
		}
	}
	return b
}

func inputs() map[string][]byte {
	noise := make([]byte, 3000)
	rand.New(rand.NewSource(8)).Read(noise)
	return map[string][]byte{
		"metrics": metrics(30), "cut off": metrics(30)[:9999], "noise": noise, "zeros": make([]byte, 5000),
		"32 bytes":       metrics(3)[:32],
		"special floats": bytes.Repeat([]byte{0, 0, 128, 127, 0, 0, 192, 127, 1, 0, 160, 255, 0, 0, 0, 128}, 20),
	}
}

// encode codes data as the records that are found in it, and reports false if there are none.
func encode(data []byte, pool *tasks.Pool) ([]byte, bool) {
	stride := general.Choose(data).Stride
	if stride == 0 {
		return nil, false
	}
	return Find(data, stride).Encode(data, pool), true
}

func TestRoundTrip(t *testing.T) {
	for name, data := range inputs() {
		stream, ok := encode(data, nil)
		if !ok {
			t.Errorf("%s: no records", name)
			continue
		}
		if again, _ := encode(data, tasks.NewPool(2)); !bytes.Equal(again, stream) {
			t.Errorf("%s: the stream depends on threads", name)
		}
		got, err := Decode(stream, len(data))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: differs, %v", name, err)
		}
		if _, err := Decode(stream, len(data)-1); err != ErrCorrupt {
			t.Errorf("%s: longer than allowed: %v", name, err)
		}
	}
	for _, data := range [][]byte{nil, make([]byte, 31)} {
		if _, ok := encode(data, nil); ok {
			t.Errorf("%d bytes have records", len(data))
		}
	}
}

// TestFields: the values of a field are in the order of its numbers and come back, all of them that a field of 2 bytes can have, and
// special floats.
func TestFields(t *testing.T) {
	for v := range 1 << 16 {
		in := []byte{byte(v), byte(v >> 8)}
		out := []byte{0, 0}
		if f := field(2); f.value(in) != int64(v) {
			t.Fatalf("%x has the value %d", in, f.value(in))
		} else if f.put(out, int64(v)); !bytes.Equal(in, out) {
			t.Fatalf("%x comes back as %x", in, out)
		}
	}
	f, before := isFloat32, int64(-1)
	infinity, minusZero := float32(math.Inf(1)), float32(math.Copysign(0, -1))
	for _, x := range []float32{-infinity, -1e30, -1, -1e-40, minusZero, 0, 1e-40, 1, 1e30, infinity, float32(math.NaN())} {
		in := binary.LittleEndian.AppendUint32(nil, math.Float32bits(x))
		v, out := f.value(in), make([]byte, 4)
		if f.put(out, v); !bytes.Equal(in, out) || v <= before {
			t.Errorf("%g has the value %d after %d and comes back as %x", x, v, before, out)
		}
		before = v
	}
}

// TestStride: the length of records and their fields are found.
func TestStride(t *testing.T) {
	data := metrics(60)
	l := Find(data, general.Choose(data).Stride)
	want := []field{2, 2, 2, isFloat32, isFloat32, 4, 4, 4}
	if l.Stride != 26 || l.header != 2 || len(l.fields) != len(want) {
		t.Fatalf("records of %d bytes after %d, %v", l.Stride, l.header, l.fields)
	}
	for i, f := range l.fields {
		if f != want[i] {
			t.Errorf("field %d is %v, want %v", i, f, want[i])
		}
	}
}

// TestSizes: what follows from other fields takes next to nothing.
func TestSizes(t *testing.T) {
	data := metrics(100)
	stream, _ := encode(data, tasks.NewPool(1))
	if len(stream) > 13800 {
		t.Errorf("%d bytes of %d, at most 13800 expected", len(stream), len(data))
	}
}

// TestRealRecords compares the sizes of InterOp files with three quarters of what xz -9e takes for them.
func TestRealRecords(t *testing.T) {
	testrun.OnlyLong(t)
	dir := testrun.Data(t)
	files, _ := filepath.Glob(filepath.Join(dir, "runfolder/HiSeq3000/InterOp/*.bin"))
	files = append(files, filepath.Join(dir, "runfolder/Reports/IndexMetricsOut.bin"))
	total, raw := 0, 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Skip(err)
		}
		stream, ok := encode(data, tasks.NewPool(1))
		if !ok {
			t.Fatalf("%s: no records", f)
		}
		got, err := Decode(stream, len(data))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%s: differs, %v", f, err)
		}
		t.Logf("%s: %d bytes of %d", filepath.Base(f), len(stream), len(data))
		total, raw = total+len(stream), raw+len(data)
	}
	const xz = 5264700
	t.Logf("all: %d bytes of %d, %.3f of xz -9e", total, raw, float64(total)/xz)
	if total > xz*3/4 {
		t.Errorf("%d bytes, at most %d expected", total, xz*3/4)
	}
}

func TestDamage(t *testing.T) {
	data := metrics(3)
	stream, _ := encode(data, nil)
	codectest.Damage(t, data, stream, Decode)
}

func FuzzDecode(f *testing.F) {
	for _, data := range inputs() {
		if stream, ok := encode(data[:min(len(data), 600)], nil); ok {
			f.Add(stream)
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		_, _ = Decode(stream, 1<<16)
	})
}

// TestVectors codes the data of testdata/vectors/records.txt and decodes them.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/records.txt", func(t *testing.T, v *testvector.Vector) {
		data := v.Hex(t, "data")
		stream, ok := encode(data, nil)
		if !ok {
			t.Fatal("no records")
		}
		got, err := Decode(v.Bytes(t, "bytes", stream), len(data))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%x, %v", got, err)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	data := metrics(1000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		encode(data, nil)
	}
}

func BenchmarkDecode(b *testing.B) {
	data := metrics(1000)
	stream, _ := encode(data, nil)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Decode(stream, len(data)); err != nil {
			b.Fatal(err)
		}
	}
}
