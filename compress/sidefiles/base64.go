package sidefiles

import (
	"encoding/base64"
	"encoding/binary"
	"slices"

	"orcomgo/bins/parse"
	"orcomgo/compress/general"
)

// Base64 in text, such as the images of a report in HTML, is nearly noise there: it takes long, and repeats of other alignment don't show.
// Decoded, it is a quarter shorter, and package general finds more in it.

const (
	leastBase64 = 64  // letters that are taken for base64, at least
	leastKinds  = 24  // different ones among the first mostLooked, of which bases, residues and hexadecimal numbers have fewer
	mostLooked  = 256 // letters
)

// isBase64 has the letters of base64.
var isBase64 = func() (is [256]bool) {
	for _, b := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		is[b] = true
	}
	return is
}()

// nextBase64 returns where the first run of base64 of text is, without the padding; from is -1 if there is none.
func nextBase64(text []byte) (from, to int) {
	for to+leastBase64 <= len(text) {
		from, to = to, to+leastBase64
		for to > from && isBase64[text[to-1]] {
			to--
		}
		if to > from {
			continue // after what is no letter
		}
		for to < len(text) && isBase64[text[to]] {
			to++
		}
		kinds := slices.Clone(text[from:min(to, from+mostLooked)])
		slices.Sort(kinds)
		if len(slices.Compact(kinds)) >= leastKinds {
			return from, to
		}
	}
	return -1, 0
}

// encodeBase64 codes text without the base64 in it, and the decoded bytes of that. It reports false if there is none.
func encodeBase64(text []byte) ([]byte, bool) {
	var list, rest, raw []byte
	for from, to := nextBase64(text); from >= 0; from, to = nextBase64(text) {
		n, end := len(raw), min(from+(to-from+3)&^3, len(text)) // with the padding
		var err error
		if raw, err = base64.StdEncoding.Strict().AppendDecode(raw, text[from:end]); err != nil { // it is not what is written of bytes
			end = from + (to-from)&^3
			raw, _ = base64.StdEncoding.AppendDecode(raw[:n], text[from:end]) // no error: these are letters
		}
		list = binary.AppendUvarint(binary.AppendUvarint(list, uint64(from)), uint64(len(raw)-n))
		rest, text = append(rest, text[:from]...), text[end:]
	}
	if list == nil {
		return nil, false
	}
	out := parse.AppendBlock(nil, general.Encode(list))
	out = parse.AppendBlock(out, general.Encode(append(rest, text...)))
	return parse.AppendBlock(out, general.Encode(raw)), true
}

// decodeBase64 is the inverse of encodeBase64, for text of at most size bytes.
func decodeBase64(coded []byte, size int) ([]byte, error) {
	in := &parse.Cursor{Rest: coded}
	var streams [3][]byte
	for i := range streams {
		var err error
		if streams[i], err = general.Decode(in.Block(), size); err != nil {
			return nil, err
		}
	}
	list, rest, raw := &parse.Cursor{Rest: streams[0]}, streams[1], streams[2]
	text := make([]byte, 0, size)
	for len(list.Rest) > 0 {
		from, n := list.Int(len(rest)), list.Int(len(raw))
		if list.Failed() || len(text)+from+base64.StdEncoding.EncodedLen(n) > size {
			return nil, ErrCorrupt
		}
		text = base64.StdEncoding.AppendEncode(append(text, rest[:from]...), raw[:n])
		rest, raw = rest[from:], raw[n:]
	}
	return append(text, rest...), nil
}
