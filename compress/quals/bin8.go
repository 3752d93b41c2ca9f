package quals

// bin8 maps a quality byte (Phred + 33) to its level.
var bin8 = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
	}
	for q := 2; q <= 93; q++ {
		level := 40
		switch {
		case q < 10:
			level = 6
		case q < 20:
			level = 15
		case q < 25:
			level = 22
		case q < 30:
			level = 27
		case q < 35:
			level = 33
		case q < 40:
			level = 37
		}
		t[q+33] = byte(level + 33)
	}
	return t
}()

// Bin8 maps quality bytes (Phred + 33) in place to Illumina's eight levels: 2-9 to 6,
// 10-19 to 15, 20-24 to 22, 25-29 to 27, 30-34 to 33, 35-39 to 37, 40 and more to 40; 0, 1
// and bytes that are no quality stay (Illumina, "Reducing whole-genome data storage
// footprint", white paper 970-2012-013).
func Bin8(q []byte) {
	for i, c := range q {
		q[i] = bin8[c]
	}
}
