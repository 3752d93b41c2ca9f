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

const stringSample = 4 << 10 // bytes of a list that say which method is the better one

// codeStrings codes a list of strings by the method that takes the fewest bytes for the first ones. The code begins with the method
// and ends at its length.
func codeStrings(list [][]byte) []byte {
	text := make([]byte, 0, len(list)*16)
	first, end := 0, 0 // strings of the sample, and their bytes
	for _, s := range list {
		if text = append(append(text, s...), '\n'); len(text) <= stringSample || first == 0 {
			first, end = first+1, len(text)
		}
	}
	byNames, byText := names.Encode(text[:end], first), general.Encode(text[:end])
	if len(byNames) <= len(byText) {
		if first < len(list) {
			byNames = names.Encode(text, len(list))
		}
		return append([]byte{methodNames}, byNames...)
	}
	if first < len(list) {
		byText = general.Encode(text)
	}
	return append([]byte{methodGeneral}, byText...)
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
