//go:build cuda

package cudakern

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"math/rand/v2"

	fastflate "github.com/klauspost/compress/flate"
)

// inflateCase is a deflate stream with what a member's footer says of its text.
type inflateCase struct {
	name        string
	data        []byte
	length, crc uint32
	text        []byte // what it must give
	right       bool   // compress/flate agrees, and uses all of data
}

// judge sets what compress/flate makes of the case.
func (c *inflateCase) judge() {
	r := bytes.NewReader(c.data) // an io.ByteReader: no more is read than is used
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(r), int64(c.length)+1))
	c.right = err == nil && r.Len() == 0 && len(text) == int(c.length) && crc32.ChecksumIEEE(text) == c.crc
	if c.right {
		c.text = text
	}
}

// deflater compresses a text.
type deflater struct {
	name string
	zip  func(text []byte) []byte
}

var deflaters = func() (all []deflater) {
	add := func(name string, open func(w io.Writer) (io.WriteCloser, error)) {
		all = append(all, deflater{name, func(text []byte) []byte {
			var b bytes.Buffer
			z, err := open(&b)
			if err != nil {
				panic(err)
			}
			for len(text) > 0 { // in pieces of different sizes, some of them in blocks of their own
				n := min(len(text), 40000-len(text)%7000)
				z.Write(text[:n])
				text = text[n:]
				if f, ok := z.(interface{ Flush() error }); ok && n%3 == 0 {
					f.Flush()
				}
			}
			z.Close()
			return b.Bytes()
		}})
	}
	for level := flate.HuffmanOnly; level <= 9; level++ {
		add(fmt.Sprintf("compress/flate level %d", level), func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, level) })
		add(fmt.Sprintf("klauspost level %d", level), func(w io.Writer) (io.WriteCloser, error) { return fastflate.NewWriter(w, level) })
	}
	return all
}()

// plainTexts are texts of many kinds, of up to most bytes.
func plainTexts(rng *rand.Rand, most int) map[string][]byte {
	letters := func(n int, from string) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = from[rng.IntN(len(from))]
		}
		return b
	}
	size := func() int { return min(most, 1+rng.IntN(most)) }
	noise := make([]byte, size())
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	skewed := make([]byte, size()) // codes of all lengths
	for i := range skewed {
		skewed[i] = byte(bits.TrailingZeros32(rng.Uint32()|1<<20)*11 + rng.IntN(1+rng.IntN(4)))
	}
	mixed := fastq(shape{records: most / 350, shortest: 100, nonACGT: 2}, rng)
	mixed = append(mixed[:min(len(mixed), most/2)], noise[:len(noise)/4]...)
	texts := map[string][]byte{
		"nothing": nil, "one byte": {'x'}, "noise": noise, "skewed": skewed, "mixed": mixed[:min(len(mixed), most)],
		"zeros":   make([]byte, most),
		"bases":   letters(size(), "ACGT"),
		"two":     letters(size(), "AB"),
		"letters": letters(size(), "the quick brown fox jumps over the lazy dog 0123456789"),
	}
	for _, period := range []int{1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 257, 258, 259, 5000} {
		again := bytes.Repeat(letters(period, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), most/period+1)
		texts[fmt.Sprintf("period %d", period)] = again[:min(most, 20+period+size())]
	}
	for name, s := range map[string]shape{"reads of 100": {records: 1 + most/250, shortest: 100, nonACGT: 2},
		"reads of many lengths": {records: 1 + most/250, shortest: 20, longer: 150}} {
		text := fastq(s, rng)
		texts[name] = text[:min(len(text), most)]
	}
	return texts
}

// bitWriter writes a deflate stream.
type bitWriter struct {
	b    []byte
	last uint64
	n    int
}

func (w *bitWriter) put(v uint32, n int) {
	w.last |= uint64(v) << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.b = append(w.b, byte(w.last))
		w.last >>= 8
	}
}

func (w *bitWriter) align() { w.put(0, -w.n&7) }

// randomCode returns lengths of a random complete code of so many of n symbols, some of which must
// have one. A code of a single symbol has one bit.
func randomCode(rng *rand.Rand, n, used, longest int, must ...int) []uint8 {
	symbols := rng.Perm(n)
	for i, m := range must {
		for j, s := range symbols {
			if s == m {
				symbols[i], symbols[j] = symbols[j], symbols[i]
			}
		}
	}
	used = max(used, len(must), 1)
	depths := []uint8{0}
	deep := rng.IntN(3) // whether long codes are preferred
	for tries := 0; len(depths) < used && tries < 10000; tries++ {
		i := rng.IntN(len(depths))
		if deep > 0 {
			i = max(i, rng.IntN(len(depths)))
		}
		if deep > 1 && rng.IntN(3) > 0 {
			i = len(depths) - 1
		}
		if int(depths[i]) < longest {
			depths[i]++
			depths = append(depths, depths[i])
		}
	}
	if len(depths) == 1 {
		depths[0] = 1
	}
	rng.Shuffle(len(depths), func(i, j int) { depths[i], depths[j] = depths[j], depths[i] })
	lengths := make([]uint8, n)
	for i, d := range depths {
		lengths[symbols[i]] = d
	}
	return lengths
}

// codes returns the codes of the given lengths, with the first bit lowest.
func codes(lengths []uint8) []uint32 {
	out := make([]uint32, len(lengths))
	code := uint32(0)
	for n := uint8(1); n <= 15; n++ {
		for i, l := range lengths {
			if l == n {
				out[i] = bits.Reverse32(code) >> (32 - n)
				code++
			}
		}
		code <<= 1
	}
	return out
}

// randomStream returns a valid deflate stream of blocks that no compressor makes, with at most so
// much text.
func randomStream(rng *rand.Rand, most int) []byte {
	var w bitWriter
	made := 0
	for blocks := 1 + rng.IntN(5); blocks > 0; blocks-- {
		final := uint32(0)
		if blocks == 1 {
			final = 1
		}
		w.put(final, 1)
		kind := rng.IntN(4)
		if kind == 0 {
			w.put(0, 2)
			w.align()
			n := min(rng.IntN(300), most-made)
			w.put(uint32(n), 16)
			w.put(uint32(n)^0xffff, 16)
			for range n {
				w.put(rng.Uint32()&255, 8)
			}
			made += n
			continue
		}
		lits, dists := make([]uint8, 288), make([]uint8, 30)
		if kind == 1 {
			w.put(1, 2)
			for i := range lits {
				lits[i] = 8
				if i >= 144 && i < 256 {
					lits[i] = 9
				} else if i >= 256 && i < 280 {
					lits[i] = 7
				}
			}
			for i := range dists {
				dists[i] = 5
			}
		} else {
			w.put(2, 2)
			copy(lits, randomCode(rng, 286, 2+rng.IntN(1+rng.IntN(285)), 15, 256, 65+rng.IntN(20)))
			if rng.IntN(8) > 0 {
				copy(dists, randomCode(rng, 30, rng.IntN(1+rng.IntN(30)), 15, rng.IntN(4)))
			}
			w.header(rng, lits[:286], dists)
		}
		litCodes, distCodes := codes(lits), codes(dists)
		if kind == 1 { // of 32 symbols
			for i := range distCodes {
				distCodes[i] = bits.Reverse32(uint32(i)) >> 27
			}
		}
		for symbols := rng.IntN(3000); symbols > 0; symbols-- {
			s := rng.IntN(286)
			if rng.IntN(3) == 0 {
				s = 257 + rng.IntN(29)
			}
			if lits[s] == 0 || s == 256 {
				continue
			}
			if s < 256 {
				if made < most {
					w.put(litCodes[s], int(lits[s]))
					made++
				}
				continue
			}
			base, extra := s-254, 0
			if s >= 265 {
				extra = (s-257)/4 - 1
				base = (4+(s-257)%4)<<extra + 3
			}
			if s == 285 {
				base, extra = 258, 0
			}
			more := rng.IntN(1 << extra)
			d := rng.IntN(30)
			distBase, distExtra := d+1, 0
			if d >= 4 {
				distExtra = d/2 - 1
				distBase = (2+d%2)<<distExtra + 1
			}
			far := rng.IntN(1 << distExtra)
			if dists[d] == 0 || distBase+far > made || made+base+more > most {
				continue
			}
			w.put(litCodes[s], int(lits[s]))
			w.put(uint32(more), extra)
			w.put(distCodes[d], int(dists[d]))
			w.put(uint32(far), distExtra)
			made += base + more
		}
		w.put(litCodes[256], int(lits[256]))
	}
	w.align()
	return w.b
}

// smallBlocks returns a stream of about size bytes, of blocks without text. Each has codes of its own.
func smallBlocks(size int, kinds ...int) []byte {
	var w bitWriter
	for i := 0; len(w.b) < size; i++ {
		w.smallBlock(0, kinds[i%len(kinds)])
	}
	w.smallBlock(1, 1)
	w.align()
	return w.b
}

func (w *bitWriter) smallBlock(final uint32, kind int) {
	w.put(final, 1)
	w.put(uint32(kind), 2)
	switch kind {
	case 0:
		w.align()
		w.put(0xffff0000, 32)
	case 1:
		w.put(0, 7)
	case 2: // no codes but one for the end of the block
		w.put(0, 5)
		w.put(0, 5)
		w.put(14, 4)
		for i := range 18 {
			w.put(map[int]uint32{2: 1, 17: 1}[i], 3) // 18 and 1 have one bit
		}
		w.put(1, 1) // 1 is the first code, 18 the second
		w.put(127, 7)
		w.put(1, 1)
		w.put(107, 7)
		w.put(0, 1)
		w.put(0, 1)
		w.put(0, 1)
	}
}

// header writes the header of a dynamic block.
func (w *bitWriter) header(rng *rand.Rand, lits, dists []uint8) {
	for len(lits) > 257 && lits[len(lits)-1] == 0 {
		lits = lits[:len(lits)-1]
	}
	for len(dists) > 1 && dists[len(dists)-1] == 0 && rng.IntN(2) == 0 {
		dists = dists[:len(dists)-1]
	}
	w.put(uint32(len(lits)-257), 5)
	w.put(uint32(len(dists)-1), 5)
	w.put(15, 4)
	code := randomCode(rng, 19, 19, 7)
	for _, i := range []int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15} {
		w.put(uint32(code[i]), 3)
	}
	values := codes(code)
	all := append(append([]uint8(nil), lits...), dists...)
	for i := 0; i < len(all); {
		run := 1
		for i+run < len(all) && all[i+run] == all[i] {
			run++
		}
		put := func(symbol int, v, n int) {
			w.put(values[symbol], int(code[symbol]))
			w.put(uint32(v), n)
		}
		switch {
		case all[i] == 0 && run >= 11 && rng.IntN(4) > 0:
			run = min(run, 138)
			put(18, run-11, 7)
		case all[i] == 0 && run >= 3 && rng.IntN(4) > 0:
			run = min(run, 10)
			put(17, run-3, 3)
		case i > 0 && all[i] == all[i-1] && run >= 3:
			run = min(run, 6)
			put(16, run-3, 2)
		default:
			run = 1
			put(int(all[i]), 0, 0)
		}
		i += run
	}
}

// validCases returns streams of all kinds that are right.
func validCases(rng *rand.Rand, most int) (all []inflateCase) {
	add := func(name string, data []byte) {
		text, err := io.ReadAll(flate.NewReader(bytes.NewReader(data)))
		if err != nil || len(text) > 1<<16 || len(data) > 1<<16 {
			panic(fmt.Sprintf("%s: %d bytes of text, %d of data, %v", name, len(text), len(data), err))
		}
		c := inflateCase{name: name, data: data, length: uint32(len(text)), crc: crc32.ChecksumIEEE(text)}
		if c.judge(); !c.right {
			panic(name)
		}
		all = append(all, c)
	}
	random, blocks := 300, 65300
	if underSanitizer() {
		random, blocks = 40, 3000
	}
	for name, text := range plainTexts(rng, most) {
		for k, d := range deflaters {
			if underSanitizer() && (k+len(name))%6 != 0 {
				continue
			}
			if z := d.zip(text); len(z) < 1<<16 {
				add(name+", "+d.name, z)
			}
		}
	}
	for _, kinds := range [][]int{{0}, {1}, {2}, {1, 2}, {0, 1, 2}} {
		add(fmt.Sprintf("small blocks %v", kinds), smallBlocks(blocks, kinds...))
	}
	for i := range random {
		add(fmt.Sprintf("random stream %d", i), randomStream(rng, 1+rng.IntN(most)))
	}
	return all
}

// damage returns a case that was damaged in one of many ways; it may still be right.
func damage(rng *rand.Rand, c, other inflateCase) inflateCase {
	d := inflateCase{name: c.name, data: bytes.Clone(c.data), length: c.length, crc: c.crc}
	n := len(d.data)
	place := func() int {
		if rng.IntN(2) == 0 {
			return rng.IntN(min(n, 90))
		}
		return rng.IntN(n)
	}
	switch kind := rng.IntN(10); kind {
	case 0, 1, 2, 3:
		for range 1 + kind {
			d.data[place()] ^= 1 << rng.IntN(8)
		}
		d.name += ", bits flipped"
	case 4:
		d.data = d.data[:place()]
		d.name += ", cut"
	case 5:
		at := min(rng.IntN(n), len(other.data))
		d.data = append(d.data[:at], other.data[at:]...)
		d.name += ", spliced"
	case 6:
		d.length += uint32(1 - 2*rng.IntN(2))
		d.length &= 0xffff
		d.name += ", another length"
	case 7:
		d.crc ^= 1 << rng.IntN(32)
		d.name += ", another CRC"
	case 8:
		d.data = append(d.data, make([]byte, 1+rng.IntN(5))...)
		d.name += ", bytes behind"
	case 9:
		at := place()
		for i := at; i < min(n, at+8); i++ {
			d.data[i] = byte(rng.Uint32())
		}
		d.name += ", bytes replaced"
	}
	d.data = d.data[:min(len(d.data), 1<<16)]
	// What the damaged stream gives may be all that is checked.
	if rng.IntN(2) == 0 {
		text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(d.data)), 1<<16))
		if err == nil {
			d.length, d.crc = uint32(len(text)), crc32.ChecksumIEEE(text)
		}
	}
	d.judge()
	return d
}

// bgzfOf cuts a text into members as bgzip does, and compresses them.
func bgzfOf(text []byte, d deflater) (all []inflateCase) {
	const most = 65280
	for len(text) > 0 {
		part := text[:min(len(text), most)]
		text = text[len(part):]
		all = append(all, inflateCase{name: d.name, data: d.zip(part), length: uint32(len(part)), crc: crc32.ChecksumIEEE(part),
			text: part, right: true})
	}
	return all
}

// layOut puts the streams of cases one behind another, as they are in a file, and returns them as
// members. Their texts are apart by up to gap bytes.
func layOut(cases []inflateCase, gap int) (data []byte, members []Member, length int) {
	for i, c := range cases {
		data = binary.LittleEndian.AppendUint64(data, 0xdeadbeefcafef00d)[:len(data)+(gap+i)%9]
		length += i % (gap + 1)
		members = append(members, Member{From: uint32(len(data)), Size: uint32(len(c.data)), To: uint32(length), Length: c.length, CRC: c.crc})
		data = append(data, c.data...)
		length += int(c.length)
	}
	return data, members, length
}

// runLikeText is FASTQ as instruments write it: names that count up, reads of a genome with errors,
// and qualities of so many levels that follow one another.
func runLikeText(rng *rand.Rand, size, levels int) []byte {
	genome := make([]byte, 4<<20)
	for i := range genome {
		genome[i] = "ACGT"[rng.IntN(4)]
	}
	b := make([]byte, 0, size+1000)
	for i := 0; len(b) < size; i++ {
		b = fmt.Appendf(b, "@A00457:178:HKKJWDSXY:2:%d:%d:%d 1:N:0:GATTACAG\n", 1101+i/40000, 1000+i%31000, 1000+rng.IntN(30000))
		at := rng.IntN(len(genome) - 151)
		for _, c := range genome[at:][:151] {
			if rng.IntN(300) == 0 {
				c = "ACGTN"[rng.IntN(5)]
			}
			b = append(b, c)
		}
		b = append(b, "\n+\n"...)
		q := levels - 1
		for j := range 151 {
			switch {
			case rng.IntN(6*levels) < levels-3+j/30:
				q = max(0, q-1-rng.IntN(levels))
			case rng.IntN(3) > 0:
				q = min(levels-1, q+1+rng.IntN(levels))
			}
			b = append(b, byte('#'+q*(37/(levels-1))))
		}
		b = append(b, '\n')
	}
	return b[:size]
}
