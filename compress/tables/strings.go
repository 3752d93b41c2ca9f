package tables

import (
	"bytes"
	"encoding/binary"
	"slices"

	"orcomgo/compress/blocksort"
	"orcomgo/compress/names"
	rc "orcomgo/compress/rangecoder"
)

// A list of strings without line ends is coded by one of these methods.
const (
	methodNames     = iota // package names
	methodBlocksort        // as lines of text, by package blocksort
	methodPlaces           // strings of one length, each letter by how often it occurred at its place
	methods
)

// codeStrings codes a list of strings by the method that takes the fewest bytes. The code begins with the method and ends at its length.
func codeStrings(list [][]byte) []byte {
	text := make([]byte, 0, len(list)*16)
	same := true
	for _, s := range list {
		text = append(append(text, s...), '\n')
		same = same && len(s) == len(list[0])
	}
	best := append([]byte{methodNames}, names.Encode(text, len(list))...)
	if b := append([]byte{methodBlocksort}, blocksort.Encode(text)...); len(b) < len(best) {
		best = b
	}
	if same && len(list) > 0 {
		width := len(list[0])
		b := binary.AppendUvarint([]byte{methodPlaces}, uint64(width))
		c := rc.EncodeTo(b)
		codePlaces(c, text, len(list), width)
		if b = c.Enc.Finish(); len(b) < len(best) {
			best = b
		}
	}
	return best
}

// codePlaces codes the letters of n lines of the given width.
func codePlaces(c *rc.Coder, text []byte, n, width int) {
	models := make([]rc.Tree, width)
	for i := range models {
		models[i] = rc.NewTree(8)
	}
	for r := range n {
		line := text[r*(width+1):]
		for i := range width {
			line[i] = byte(models[i].Code(c, uint32(line[i]), rc.MaxCount))
		}
		line[width] = '\n'
	}
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
	case methodBlocksort:
		text, err = blocksort.Decode(code, size)
	case methodPlaces:
		width, k := binary.Uvarint(code)
		// A letter takes at least a thousandth of a byte.
		if k <= 0 || width > uint64(size) || uint64(n)*(width+1) > min(uint64(size), uint64(len(code)+64)*4096) {
			return nil, ErrCorrupt
		}
		text = make([]byte, uint64(n)*(width+1))
		c := rc.DecodeFrom(code[k:])
		codePlaces(c, text, n, int(width))
		err = c.Dec.Err()
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

// mayRepeat reports whether so many strings of a list occur again that a dictionary is likely of use.
func mayRepeat(list [][]byte, words int) bool {
	return words <= len(list)*3/4 || slices.IsSortedFunc(list, bytes.Compare) && words < len(list)
}
