package tables

import (
	"math"
	"strconv"
)

// maxDigits is how many digits the number of a field may have: what is less than numbers.MaxValue.
const maxDigits = 17

// decimal is a number as it is written: sign and digits, and how many of these are decimals.
type decimal struct {
	value    int64
	decimals int
}

// parseDecimal parses the text of a number that is written without superfluous zeros at the start, an exponent, or a plus sign.
func parseDecimal(s []byte) (decimal, bool) {
	d, point := decimal{}, false
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	digits := 0
	for i, b := range s {
		switch {
		case b == '.' && !point && i > 0:
			point = true
		case b >= '0' && b <= '9':
			if point {
				d.decimals++
			} else if i > 0 && s[0] == '0' {
				return d, false
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
	if len(s) == 0 || point && d.decimals == 0 || negative && d.value == 0 || d.decimals > maxDigits {
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
