package tables

import (
	"bytes"

	"orcomgo/compress/general"
	"orcomgo/compress/names"
)

// A list of strings without line ends is coded by one of these methods.
const (
	methodNames   = iota // package names
	methodGeneral        // as lines of text, by package general
)

// codeStrings codes a list of strings by the method that takes the fewest bytes. The code begins with the method and ends at its length.
func codeStrings(list [][]byte) []byte {
	text := make([]byte, 0, len(list)*16)
	for _, s := range list {
		text = append(append(text, s...), '\n')
	}
	best := append([]byte{methodNames}, names.Encode(text, len(list))...)
	if b := append([]byte{methodGeneral}, general.Encode(text)...); len(b) < len(best) {
		best = b
	}
	return best
}

// decodeStrings is the inverse of codeStrings for n strings of size bytes at most, their line ends included.
func decodeStrings(code []byte, n, size int) ([][]byte, error) {
	if len(code) == 0 || n > size {
		return nil, ErrCorrupt
	}
	var text []byte
	var err error
	switch method, code := code[0], code[1:]; method {
	case methodNames:
		text, err = names.Decode(code, n, uint64(size))
	case methodGeneral:
		text, err = general.Decode(code, size)
	default:
		err = ErrCorrupt
	}
	if err != nil || bytes.Count(text, []byte{'\n'}) != n || n > 0 && text[len(text)-1] != '\n' {
		return nil, ErrCorrupt
	}
	list := make([][]byte, 0, n)
	for range n {
		end := bytes.IndexByte(text, '\n')
		list = append(list, text[:end:end])
		text = text[end+1:]
	}
	return list, nil
}

// dictionary returns the distinct strings of a list in the order in which they occur first, and the number of each.
func dictionary(list [][]byte) (words [][]byte, numbers []int64) {
	number := map[string]int64{}
	numbers = make([]int64, len(list))
	for i, s := range list {
		k, ok := number[string(s)]
		if !ok {
			k = int64(len(words))
			number[string(s)] = k
			words = append(words, s)
		}
		numbers[i] = k
	}
	return words, numbers
}
