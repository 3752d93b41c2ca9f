package entropy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// benchQualities are qualities of 41 values that drift like those of a sequencer.
func benchQualities(n int) []byte {
	rng := rand.New(rand.NewPCG(5, 6))
	b := make([]byte, n)
	q := 40
	for i := range b {
		if i%150 == 0 {
			q = 38
		}
		q = min(max(q+int(rng.NormFloat64()*2.5), 0), 40)
		b[i] = byte(33 + q)
	}
	return b
}

// benchNames are names as of an Illumina run.
func benchNames(n int) []byte {
	rng := rand.New(rand.NewPCG(7, 8))
	var b []byte
	x := 1000
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "SRR062634.%d HWI-EAS110_103327062:6:%d:%d:%d/1\n", i+1, 1+i/10000, x, rng.IntN(20000))
		x += rng.IntN(4)
	}
	return b[:n]
}

// benchData returns the file named by ENTROPY_QUALITIES or ENTROPY_NAMES, or what is made up.
func benchData(variable string, made func(n int) []byte) []byte {
	if data, err := os.ReadFile(os.Getenv(variable)); err == nil {
		return data[:min(len(data), 1<<20)]
	}
	return made(1 << 20)
}

func BenchmarkEncodeQualities(b *testing.B) {
	data := benchData("ENTROPY_QUALITIES", benchQualities)
	e := new(Encoder)
	b.SetBytes(int64(len(data)))
	var out []byte
	for b.Loop() {
		out = e.AppendStream(out[:0], data, true)
	}
	b.ReportMetric(float64(len(out))/float64(len(data)), "ratio")
}

func BenchmarkDecodeQualities(b *testing.B) {
	data := benchData("ENTROPY_QUALITIES", benchQualities)
	stored := new(Encoder).AppendStream(nil, data, true)
	d, out := new(Decoder), make([]byte, len(data))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := d.Stream(out, stored); err != nil || !bytes.Equal(out[:100], data[:100]) {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeNames(b *testing.B) {
	data := benchData("ENTROPY_NAMES", benchNames)
	e := new(Encoder)
	b.SetBytes(int64(len(data)))
	var out []byte
	for b.Loop() {
		out = e.AppendNames(out[:0], data)
	}
	b.ReportMetric(float64(len(out))/float64(len(data)), "ratio")
}

func BenchmarkDecodeNames(b *testing.B) {
	data := benchData("ENTROPY_NAMES", benchNames)
	stored := new(Encoder).AppendNames(nil, data)
	d, out := new(Decoder), make([]byte, len(data))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := d.Names(out, stored); err != nil || !bytes.Equal(out[:100], data[:100]) {
			b.Fatal(err)
		}
	}
}

func BenchmarkCountPairs(b *testing.B) {
	p := parts(benchData("ENTROPY_QUALITIES", benchQualities))
	var tables [numParts][pairTable]uint32
	b.SetBytes(1 << 20)
	for b.Loop() {
		countPairs(&tables, &p)
	}
}

func BenchmarkCountNear(b *testing.B) {
	p := parts(benchData("ENTROPY_QUALITIES", benchQualities))
	var tables [2 * numParts][nearTable]uint32
	b.SetBytes(1 << 20)
	for b.Loop() {
		if !countNear(&tables, &p) {
			b.Fatal("not near")
		}
	}
}
