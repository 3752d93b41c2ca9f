package tags

import (
	"math/bits"
	"slices"

	"orcomgo/bins/bam"
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

// levels has the level of each byte. A byte stands for a number of frames; its level is about the binary logarithm of that number plus 1,
// and linear between powers of 2. Bytes from 64 on count frames by 2, from 128 on by 4, from 192 on by 8 (codec V1 of the PacBio BAM format).
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
	surely      = 32 // after so many values of a mean, weights are learnt from what differs from it
)

// learn moves the mean towards n levels, or differences of levels, of 16 bits at most, whose sum is given.
func (e *effect) learn(sum int32, n int) {
	e.count = min(e.count+uint16(n), effectLimit)
	e.mean += int16((int64(sum-int32(n)*int32(e.mean))*int64(shares[e.count]) + 1<<(meanShift-1)) >> meanShift)
}

// lengthOf has the lengths in bits of counts.
var lengthOf = func() (l [effectLimit + 1]uint8) {
	for n := range l {
		l[n] = uint8(bits.Len(uint(n)))
	}
	return
}()

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
	*w = min(max(*w+weight((int64(x)*int64(wrong)+1<<14)>>15), -1<<17), 1<<17)
}

// kinetics is the model of a column.
type kinetics struct {
	near            [1 << 8]effect  // of bases -1 to 2
	before, after   [1 << 16]effect // of bases -5 to 2, and -2 to 5: what they add to near
	ofBefore        [16]weight      // by the length of the count
	ofAfter, ofRead [16]weight
	ofLast, ofOther weight
	spread          int32
	values          [steps * spreads]*frequencies
	windows         [stretch]uint32 // of the next values
	touched         uint16          // makes the compiler load effects
}

// load sets the windows of values of which the first has the base before number `next` as its last one, and loads their effects all at
// once: one by one, it takes longer.
func (k *kinetics) load(letters []byte, next int, window uint32) uint32 {
	touched := uint16(0)
	for i := range k.windows {
		window <<= 2
		if at := next + i; at < len(letters) {
			window |= uint32(codes[letters[at]])
		}
		k.windows[i] = window
		touched += k.before[window>>6&0xffff].count + k.after[window&0xffff].count
	}
	k.touched = touched
	return window
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

// stretch is how many values are coded with the same effect of the read and class of the spread.
const stretch = 64

// code codes the array of a read, whose bases are in the order of the array. others are what was left of another array of the read, or 0;
// it becomes what is left of this one.
func (k *kinetics) code(c *rangecoder.Coder, array, letters []byte, others []int16) {
	window := uint32(0)
	for i := range min(ahead, len(letters)) {
		window |= uint32(codes[letters[i]]) << (2 * (ahead - 1 - i))
	}
	var read effect
	last := int16(0)
	for from := 0; from < len(array); from += stretch {
		n := min(stretch, len(array)-from)
		window = k.load(letters, from+ahead, window)
		ofRead, class := &k.ofRead[lengthOf[read.count]&15], k.spreadClass()
		readAdds := ofRead.of(read.mean)
		sum, wrongs := int32(0), int32(0)
		values, lefts := array[from:][:n], others[from:][:n]
		for i, v := range values {
			w := k.windows[i%stretch]
			near, before, after := &k.near[w>>6&0xff], &k.before[w>>6&0xffff], &k.after[w&0xffff]
			ofBefore, ofAfter := &k.ofBefore[lengthOf[before.count]&15], &k.ofAfter[lengthOf[after.count]&15]
			other, first := lefts[i], int32(near.mean)
			second := first + ofBefore.of(before.mean) + ofAfter.of(after.mean)
			whole := second + readAdds + k.ofLast.of(last) + k.ofOther.of(other)

			step := min(max((whole+1<<(levelStep-1))>>levelStep, 0), steps-1)
			f := &k.values[int(step)*spreads+class]
			if *f == nil {
				*f = newFrequencies()
			}
			v = (*f).code(c, v)
			values[i] = v

			level := levels[v]
			wrong := level - whole
			switch i % 4 { // each learns from one value in four, which takes less time, and no more bytes
			case 0:
				if near.count >= surely {
					ofBefore.learn(before.mean, wrong)
					ofAfter.learn(after.mean, wrong)
					ofRead.learn(read.mean, wrong)
					k.ofLast.learn(last, wrong)
					k.ofOther.learn(other, wrong)
				}
			case 1:
				before.learn(level-first, 1)
			case 2:
				near.learn(level, 1)
			case 3:
				after.learn(level-first, 1)
			}
			last = clamp(level - second)
			lefts[i] = last
			sum += int32(last)
			wrongs += max(wrong, -wrong)
		}
		read.learn(sum, n)
		k.spread += (wrongs - int32(n)*k.spread) >> 8
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
func (r *reads) code(coder *rangecoder.Coder, c *column) {
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
		model.code(coder, values[:n], letters, left[:n])
		values, left = values[n:], left[n:]
	}
}

// encode returns the bytes of a column that fits, coded as kinetics, if a sample takes more in other ways.
func (r *reads) encode(c *column) (coded []byte, ok bool) {
	before, left := r.before, slices.Clone(r.left)
	n := min(len(c.bytes), leastSample)
	_, other := wayOf(c.bytes[(len(c.bytes)-n)/2:][:n])
	if coded = r.encodeAll(c); len(coded)*n >= other*len(c.bytes) {
		r.before, r.left = before, left
		return nil, false
	}
	return coded, true
}

func (r *reads) encodeAll(c *column) []byte {
	coder := rangecoder.EncodeTo(make([]byte, 0, len(c.bytes)*3/4))
	r.code(coder, c)
	return coder.Enc.Finish()
}

// decode sets the size bytes of a column.
func (r *reads) decode(c *column, coded []byte, size int) error {
	if !r.fit(c) || size > (len(coded)+64)<<15 {
		return ErrCorrupt
	}
	coder := rangecoder.DecodeFrom(coded)
	c.bytes = make([]byte, size)
	r.code(coder, c)
	return coder.Dec.Err()
}
