package quals

import (
	"bytes"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/internal/testvector"
)

// TestVectors codes the columns of testdata/vectors/qualities.txt by the strategy that each names, and decodes them.
func TestVectors(t *testing.T) {
	seen := make(map[byte]bool)
	testvector.Run(t, "../../testdata/vectors/qualities.txt", func(t *testing.T, v *testvector.Vector) {
		strategy := byte(v.Int(t, "strategy"))
		seen[strategy] = true
		in := Input{Lengths: record.Lengths{Each: v.Ints(t, "lengths")}, Quals: []byte(v.Text(t, "qualities"))}
		in.Records = len(in.Lengths.Each)
		var data []byte
		switch {
		case strategy == strategyPrimed:
			in.Primer = leadingVector(t, v)
			data = v.Bytes(t, "bytes", in.Primer.model.encodeCopy([]byte{strategyPrimed}, &in))
		case strategy >= strategyEager:
			data = v.Bytes(t, "bytes", encodeLeading(in, Default, v.Int(t, "primer"), strategyEager, func(*Primer) {}))
		case strategy >= strategyLeading:
			data = v.Bytes(t, "bytes", encodeLeading(in, Default, v.Int(t, "primer"), strategyLeading, func(*Primer) {}))
		case strategy >= strategyBased:
			in.Bases = []byte(v.Text(t, "letters"))
			fallthrough
		default:
			data = v.Bytes(t, "bytes", encodeBy(strategy, in))
		}
		if data[0] != strategy {
			t.Fatalf("the section has strategy %d, want %d", data[0], strategy)
		}
		got, err := Decode(data, Input{Lengths: in.Lengths, Records: in.Records, Bases: in.Bases, Primer: in.Primer}, nil)
		if err != nil || !bytes.Equal(got, in.Quals) {
			t.Fatalf("decoded %q, %v; want %q", got, err, in.Quals)
		}
		// The encoder takes the shorter one of smooth and stepped.
		if strategy >= strategyModelled && strategy < strategyBased {
			other := encodeBy(strategy^1, in)
			if strategy&1 == 0 && len(data) <= len(other) || strategy&1 == 1 && len(data) < len(other) {
				v.Bytes(t, "bytes", Encode(in, Level(strategy-strategyModelled)/2))
			}
		}
	})
	for s := range byte(strategies) {
		if !seen[s] {
			t.Errorf("no vector has strategy %d", s)
		}
	}
}

// leadingVector returns the primer of the leading column of a vector, as it is decoded.
func leadingVector(t *testing.T, v *testvector.Vector) *Primer {
	in := Input{Lengths: record.Lengths{Each: v.Ints(t, "leading-lengths")}, Quals: []byte(v.Text(t, "leading-qualities"))}
	in.Records = len(in.Lengths.Each)
	strategy := byte(strategyLeading)
	if v.Has("leading-strategy") {
		strategy = byte(v.Int(t, "leading-strategy"))
	}
	data := v.Bytes(t, "leading", encodeLeading(in, Default, v.Int(t, "primer"), strategy, func(*Primer) {}))
	p, err := DecodePrimer(data, Input{Lengths: in.Lengths, Records: in.Records})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// encodeBy codes a column by the strategy given, where Encode would choose.
func encodeBy(strategy byte, in Input) []byte {
	if strategy < strategyModelled || strategy >= strategyBased {
		return Encode(in, Default+Level(strategy&1))
	}
	t, head := newTrees(&in)
	out := append([]byte{strategy}, head...)
	return newEngine(t, len(in.Quals), Level(strategy-strategyModelled)/2, strategy&1 == 1).encode(out, &in)
}

// TestCoderVectors codes the decisions of testdata/vectors/qualitycoder.txt and decodes them.
func TestCoderVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/qualitycoder.txt", func(t *testing.T, v *testvector.Vector) {
		probabilities, bits := v.Ints(t, "probabilities"), strings.Join(v.Words(t, "bits"), "")
		e := newEncoder(nil)
		for i, b := range bits {
			e.encode([]decision{decision(probabilities[i%len(probabilities)]<<1 | uint32(b-'0'))})
		}
		data := v.Bytes(t, "bytes", e.finish())
		if len(probabilities) > 1 {
			return // decodeBits has one probability
		}
		got, _ := decodeBits(data, len(bits), uint64(probabilities[0]))
		for i, b := range bits {
			if got[i] != int(b-'0') {
				t.Fatalf("bit %d is %d, want %c", i, got[i], b)
			}
		}
	})
}
