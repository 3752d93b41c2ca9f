package nameranges

import (
	"bytes"
	"strconv"
)

// A wordShape is what words have in common of which the numbers differ: the bytes that are no digits.
type wordShape struct{ between [][]byte } // before the first number, between numbers, after the last one

// maxNumberDigits is the most digits of a number of a shape, so that any fits into 64 bits.
const maxNumberDigits = 18

// newWordShape returns the shape of a word, and its numbers; nil if a number has more than maxNumberDigits, or zeros before it.
func newWordShape(word []byte) (s *wordShape, numbers []uint64) {
	s = new(wordShape)
	for {
		n := bytes.IndexFunc(word, func(r rune) bool { return r >= '0' && r <= '9' })
		if n < 0 {
			s.between = append(s.between, word)
			return s, numbers
		}
		s.between = append(s.between, word[:n])
		v, digits := leadingNumber(word[n:])
		if digits == 0 {
			return nil, nil
		}
		numbers, word = append(numbers, v), word[n+digits:]
	}
}

// leadingNumber returns the number that b begins with, and how many digits it has; 0 if it cannot be one of a shape.
func leadingNumber(b []byte) (v uint64, digits int) {
	for digits < len(b) && isDigit(b[digits]) {
		v = v*10 + uint64(b[digits]-'0')
		digits++
	}
	if digits > maxNumberDigits || digits > 1 && b[0] == '0' {
		return 0, 0
	}
	return v, digits
}

// cut sets the numbers of a word; it returns false if the word does not have the shape.
func (s *wordShape) cut(word []byte, numbers []uint64) bool {
	for i, b := range s.between {
		if !bytes.HasPrefix(word, b) {
			return false
		}
		word = word[len(b):]
		if i == len(numbers) {
			break
		}
		v, digits := leadingNumber(word)
		if digits == 0 {
			return false
		}
		numbers[i], word = v, word[digits:]
	}
	return len(word) == 0
}

// word returns the word of the shape that has these numbers.
func (s *wordShape) word(numbers []uint64) []byte {
	var w []byte
	for i, b := range s.between {
		w = append(w, b...)
		if i < len(numbers) {
			w = strconv.AppendUint(w, numbers[i], 10)
		}
	}
	return w
}

func isDigit(b byte) bool { return b-'0' <= 9 }
