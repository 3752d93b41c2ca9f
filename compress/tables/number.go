package tables

import (
	"math"
	"strconv"
)

// maxDigits is how many digits the number of a field may have: what is less than numbers.MaxValue.
const maxDigits = 17

// A field that is a number is written in one of these styles.
const (
	styleFixed   = iota // with a given number of decimals: 7.50
	styleDropped        // without zeros at the end, nor a point without decimals: 7.5, 7
	styleFloat          // the shortest text of the float64 that is some steps from the number: 0.30000000000000004
	styleLiteral        // no number
)

// decimal is a number as it is written: sign and digits, and how many of these are decimals.
type decimal struct {
	value    int64
	decimals int // -1 if there is no point
	zeros    int // at the end of the decimals
}

// parseDecimal parses the text of a number that is written without superfluous zeros at the start, an exponent, or a plus sign.
func parseDecimal(s []byte) (decimal, bool) {
	d := decimal{decimals: -1}
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	digits := 0
	for i, b := range s {
		switch {
		case b == '.' && d.decimals < 0 && i > 0:
			d.decimals = 0
		case b >= '0' && b <= '9':
			if d.decimals < 0 && i > 0 && s[0] == '0' {
				return d, false
			}
			if d.decimals >= 0 {
				d.decimals++
				d.zeros++
			}
			if b != '0' {
				d.zeros = 0
			}
			if d.value > 0 || b != '0' {
				digits++
			}
			if digits > maxDigits {
				return d, false
			}
			d.value = d.value*10 + int64(b-'0')
		default:
			return d, false
		}
	}
	if len(s) == 0 || d.decimals == 0 || negative && d.value == 0 || d.decimals > maxDigits {
		return d, false
	}
	if negative {
		d.value = -d.value
	}
	return d, true
}

var powers [19]int64

func init() {
	powers[0] = 1
	for i := range powers[1:] {
		powers[i+1] = powers[i] * 10
	}
}

// appendFixed appends v with the given number of decimals.
func appendFixed(dst []byte, v int64, decimals int) []byte {
	if v < 0 {
		dst, v = append(dst, '-'), -v
	}
	dst = strconv.AppendInt(dst, v/powers[decimals], 10)
	if decimals == 0 {
		return dst
	}
	dst = append(dst, '.')
	rest := v % powers[decimals]
	for i := decimals - 1; i >= 0; i-- {
		dst = append(dst, byte('0'+rest/powers[i]%10))
	}
	return dst
}

// appendDropped appends v, which has the given number of decimals, without zeros at the end.
func appendDropped(dst []byte, v int64, decimals int) []byte {
	for decimals > 0 && v%10 == 0 {
		v /= 10
		decimals--
	}
	return appendFixed(dst, v, decimals)
}

// appendFloat appends the shortest text of the float64 that is steps above that of v, with the given number of decimals. It has one
// decimal at least.
func appendFloat(dst []byte, v int64, decimals int, steps int64) []byte {
	text := appendFixed(nil, v, decimals)
	f, _ := strconv.ParseFloat(string(text), 64) // in range
	f = math.Float64frombits(uint64(int64(math.Float64bits(f)) + steps))
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	for _, b := range dst[start:] {
		if b == '.' {
			return dst
		}
	}
	return append(dst, '.', '0')
}

// maxSteps is the largest distance of a float64 from the number that it was likely computed for.
const maxSteps = 64

// parseFloat finds the number of the given decimals near the number in a field, and the steps from its float64 to that of the field.
func parseFloat(field []byte, decimals int) (v, steps int64, ok bool) {
	f, err := strconv.ParseFloat(string(field), 64)
	if err != nil || math.Abs(f) >= 1e17/float64(powers[decimals]) || f == 0 {
		return 0, 0, false
	}
	text := strconv.AppendFloat(nil, f, 'f', decimals, 64)
	d, ok := parseDecimal(text)
	if !ok || d.value == 0 {
		return 0, 0, false
	}
	near, _ := strconv.ParseFloat(string(text), 64) // in range
	steps = int64(math.Float64bits(f)) - int64(math.Float64bits(near))
	if steps > maxSteps || steps < -maxSteps || string(appendFloat(nil, d.value, decimals, steps)) != string(field) {
		return 0, 0, false
	}
	return d.value, steps, true
}
