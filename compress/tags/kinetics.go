package tags

import (
	"cmp"
	"math/bits"
	"slices"

	"orcomgo/bins/bam"
	"orcomgo/bins/parse"
	"orcomgo/compress/rangecoder"
)

// Kinetics are arrays of bytes that have one for each base: how long the polymerase waited before it, or held it. These times depend on the
// bases around, mostly on seven on one side and two on the other (Schadt et al., "Modeling kinetic rate variation in third generation DNA
// sequencing data to detect putative modifications to DNA bases", Genome Research, 2013), on the molecule, and on the other time of the
// same base.
//
// The logarithm of a time, its level, is predicted by what all these add. The byte is coded by adaptive frequencies, given that
// prediction and by how much those before were wrong. Levels are in 1/2048 octaves.

const (
	levelBits = 11
	ahead     = 5 // bases after one on which a prediction depends
	// levelStep and spreads: predictions in steps of 1/16 octave, and errors in half octaves, choose the frequencies.
	levelStep, steps, spreads = 7, 160, 16
)

// levels has the level of each byte, which stands for a number of frames. Where that number plus 1 is a power of 2, the level is its
// binary logarithm; between two of these it is linear. Bytes from 64 on count frames by 2, from 128 on by 4, from 192 on by 8 (codec V1
// of the PacBio BAM format).
var levels = func() (l [256]int32) {
	for v := range l {
		part := uint(v) >> 6
		x := (64<<part - 64) + uint32(v&63)<<part + 1
		n := bits.Len32(x) - 1
		l[v] = int32(n)<<levelBits | int32(x<<levelBits>>n)&(1<<levelBits-1)
	}
	return
}()

// effect is what bases add to the level: the mean, and of how many.
type effect struct {
	mean  int16
	count uint16
}

const (
	effectLimit = 1000
	meanShift   = 16
	surely      = 8 // after so many values of a mean, weights are learnt from what differs from it
)

// learn moves the mean towards n levels, or differences of levels, of 16 bits at most, whose sum is given.
func (e *effect) learn(sum int32, n int) {
	e.count = min(e.count+uint16(n), effectLimit)
	e.mean += int16((int64(sum-int32(n)*int32(e.mean))*int64(shares[e.count]) + 1<<(meanShift-1)) >> meanShift)
}

// shares are the parts of its distance that a mean moves by the count that it has then.
var shares = func() (s [effectLimit + 1]int32) {
	for n := 1; n < len(s); n++ {
		s[n] = 1 << meanShift / int32(n)
	}
	return
}()

func clamp(level int32) int16 { return int16(min(max(level, -1<<15), 1<<15-1)) }

// weight is by how much an effect counts, in 1/65536. It moves by the product of the effect and the error.
type weight int32

func (w weight) of(x int16) int32 { return int32(int64(w) * int64(x) >> 16) }

func (w *weight) learn(x int16, wrong int32) {
	*w = min(max(*w+weight((int64(x)*int64(wrong)+1<<13)>>14), -1<<17), 1<<17)
}

// kinetics is the model of a column.
type kinetics struct {
	near              [1 << 8]effect  // of bases -1 to 2
	middle            [1 << 14]effect // of bases -4 to 2: what they add to near
	sides             [1 << 12]effect // of bases -7 to -5 and 3 to 5, likewise
	ofMiddle, ofSides weight
	ofRead            [16]weight // by the length of the count
	ofLast, ofOther   weight
	spread            int32
	values            [spreads][]rangecoder.Frequencies // by steps
	next              [stretch]predicted                // the values of a stretch
	by                [stretch]byte                     // the steps of their predictions
}

// predicted is what is known of a value before it is coded.
type predicted struct {
	window               uint32 // the bases around
	first, second, whole int32  // the level by near, by all bases, and by everything
}

func nearOf(window uint32) uint32   { return window >> 6 & 0xff }
func middleOf(window uint32) uint32 { return window >> 6 & 0x3fff }
func sidesOf(window uint32) uint32  { return window>>14&0xfc0 | window&0x3f }

// predict sets windows and predictions of the next values, given others, and what the read adds. letters are the bases from the one on
// that is the last of the first window; window is the one before. It returns the last one.
func (k *kinetics) predict(letters []byte, window uint32, others []int16, adds int32) uint32 {
	ofOther, ofMiddle, ofSides := k.ofOther, int64(k.ofMiddle), int64(k.ofSides) // in registers
	next, by := k.next[:len(others)], k.by[:len(others)]
	for i := range next {
		window <<= 2
		if i < len(letters) {
			window |= uint32(codes[letters[i]])
		}
		first := int32(k.near[nearOf(window)].mean)
		of := ofMiddle*int64(k.middle[middleOf(window)].mean) + ofSides*int64(k.sides[sidesOf(window)].mean)
		second := first + int32(of>>16)
		whole := second + adds + ofOther.of(others[i])
		next[i] = predicted{window, first, second, whole}
		by[i] = byte(min(max((whole+1<<(levelStep-1))>>levelStep, 0), steps-1))
	}
	return window
}

// learn has the model learn values that were predicted, given others, and the mean of the read and of the last stretch: each effect from
// some of them, which takes less time, and no more bytes. others become what is left above what the bases around add; it returns their sum.
func (k *kinetics) learn(values []byte, others []int16, ofRead *weight, read, last int16) (sum int32) {
	wrongs, next := int32(0), k.next[:len(values)]
	others = others[:len(values)]
	for i := range next {
		p, level := &next[i], levels[values[i]]
		wrong := level - p.whole
		switch i % 16 {
		case 0:
			if k.near[nearOf(p.window)].count >= surely {
				k.ofMiddle.learn(k.middle[middleOf(p.window)].mean, wrong)
				k.ofSides.learn(k.sides[sidesOf(p.window)].mean, wrong)
				ofRead.learn(read, wrong)
				k.ofLast.learn(last, wrong)
				k.ofOther.learn(others[i], wrong)
			}
		case 2, 6, 10, 14:
			k.middle[middleOf(p.window)].learn(level-p.first, 1)
		case 4, 12:
			k.sides[sidesOf(p.window)].learn(level-p.first, 1)
		case 8:
			k.near[nearOf(p.window)].learn(level, 1)
		}
		others[i] = clamp(level - p.second)
		sum += int32(others[i])
		wrongs += max(wrong, -wrong)
	}
	k.spread += (wrongs - int32(len(values))*k.spread) >> 8
	return sum
}

// spreadClass returns the number of half octaves that errors have.
func (k *kinetics) spreadClass() int {
	x := uint32(k.spread)>>4 | 8
	n := bits.Len32(x)
	return min(2*n+int(x>>(n-2)&1)-8, spreads-1)
}

// codes are the bases in two bits; other letters are as A. complement has the letters of the other strand.
var (
	codes      = [256]byte{'C': 1, 'G': 2, 'T': 3}
	complement = [256]byte{'A': 'T', 'C': 'G', 'G': 'C', 'T': 'A'}
)

// stretch is how many values are predicted at a time: a processor does each step for all of them in less time than all steps for each.
const stretchBits, stretch = 6, 1 << 6

// code codes the array of a read, whose bases are in the order of the array. others are what was left of another array of the read, or 0;
// it becomes what is left of this one. enc or dec is nil.
func (k *kinetics) code(enc *[2]rangecoder.Encoder, dec *[2]rangecoder.Decoder, array, letters []byte, others []int16) {
	window := uint32(0)
	for i := range min(ahead, len(letters)) {
		window |= uint32(codes[letters[i]]) << (2 * (ahead - 1 - i))
	}
	var read effect
	last := int16(0) // what was left of the stretch before, on average
	for from := 0; from < len(array); from += stretch {
		n := min(stretch, len(array)-from)
		values, others := array[from:][:n], others[from:][:n]
		ofRead := &k.ofRead[bits.Len16(read.count)&15]
		window = k.predict(letters[min(from+ahead, len(letters)):], window, others, ofRead.of(read.mean)+k.ofLast.of(last))
		all := &k.values[k.spreadClass()]
		if *all == nil {
			*all = rangecoder.NewFrequencies(steps)
		}
		if dec != nil {
			rangecoder.DecodeBytes(dec, *all, k.by[:], values)
		} else {
			rangecoder.EncodeBytes(enc, *all, k.by[:], values)
		}
		sum := k.learn(values, others, ofRead, read.mean, last)
		read.learn(sum, n)
		last = int16(sum >> stretchBits)
	}
}

// reads are what arrays of kinetics are coded given.
type reads struct {
	bases func(record int) []byte // the letters of a read
	// before is the last column that was coded as kinetics, left what its levels were above what the bases around add.
	before *column
	left   []int16
}

// kinetics reports whether the values may be kinetics: arrays of bytes.
func (k key) kinetics() bool { return k[2] == 'B' && bam.Widths[k[3]] == 1 }

// reversed reports whether the values are of the other strand, in its order.
func (k key) reversed() bool { return string(k[:2]) == "ri" || string(k[:2]) == "rp" }

// fit reports whether each array of a column has one value for each base.
func (r *reads) fit(c *column) bool {
	if r.bases == nil || !c.key.kinetics() || len(c.numbers) == 0 {
		return false
	}
	for i, record := range c.records {
		if c.numbers[i] != int64(len(r.bases(int(record)))) {
			return false
		}
	}
	return true
}

// next returns what was left of an array of the same reads and strand, or zeros, and makes c the column to which they will belong.
func (r *reads) next(c *column) []int16 {
	d := r.before
	if d == nil || d.key.reversed() != c.key.reversed() || !slices.Equal(d.records, c.records) {
		r.left = make([]int16, len(c.bytes))
	}
	r.before = c
	return r.left
}

// code codes a column that fits.
func (r *reads) code(enc *[2]rangecoder.Encoder, dec *[2]rangecoder.Decoder, c *column) {
	model, left, values := &kinetics{spread: 1 << levelBits}, r.next(c), c.bytes
	var other []byte
	for _, record := range c.records {
		letters := r.bases(int(record))
		n := len(letters)
		if c.key.reversed() {
			other = other[:0]
			for _, l := range slices.Backward(letters) {
				other = append(other, complement[l])
			}
			letters = other
		}
		model.code(enc, dec, values[:n], letters, left[:n])
		values, left = values[n:], left[n:]
	}
}

// encode returns the bytes of a column that fits, coded as kinetics, if each takes less than so many bytes.
func (r *reads) encode(c *column, most float64) (coded []byte, ok bool) {
	before, left := r.before, slices.Clone(r.left)
	var enc [2]rangecoder.Encoder
	for i := range enc {
		enc[i].Reset(make([]byte, 0, len(c.bytes)*3/8))
	}
	r.code(&enc, nil, c)
	coded = append(parse.AppendBlock(nil, enc[0].Finish()), enc[1].Finish()...)
	if float64(len(coded)) >= most*float64(len(c.bytes)) {
		r.before, r.left = before, left
		return nil, false
	}
	return coded, true
}

// decode sets the size bytes of a column.
func (r *reads) decode(c *column, coded []byte, size int) error {
	if !r.fit(c) || size > (len(coded)+64)<<15 {
		return ErrCorrupt
	}
	in := parse.Cursor{Rest: coded}
	var dec [2]rangecoder.Decoder
	dec[0].Reset(in.Block())
	dec[1].Reset(in.Rest)
	if in.Failed() {
		return ErrCorrupt
	}
	c.bytes = make([]byte, size)
	r.code(nil, &dec, c)
	return cmp.Or(dec[0].Err(), dec[1].Err())
}
