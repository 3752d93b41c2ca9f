package names

import (
	"bytes"

	rc "orcomgo/compress/rangecoder"
)

// rule is how second mates' names follow from the first mates': the byte after the last mark is from in the first mate's name and to in the
// second's. The names are equal if from and to are.
type rule struct {
	mark, from, to byte
}

// marksTried are the marks of the usual styles: " 1:N:0:", "/1", "_1", ".1".
const marksTried = " /_.\t:-"

// place returns where in the first mate's name the rule's byte is, or -1.
func (r rule) place(first []byte) int {
	i := bytes.LastIndexByte(first, r.mark)
	if r.from == r.to || i < 0 || i+1 >= len(first) || first[i+1] != r.from {
		return -1
	}
	return i + 1
}

// follows reports whether the rule gives name for first.
func (r rule) follows(name, first []byte) bool {
	if len(name) != len(first) {
		return false
	}
	i := r.place(first)
	if i < 0 {
		return bytes.Equal(name, first)
	}
	return name[i] == r.to && bytes.Equal(name[:i], first[:i]) && bytes.Equal(name[i+1:], first[i+1:])
}

// findRule returns the rule that most of the first names of both sides follow.
func findRule(names, first []byte, n int) rule {
	var pairs [][2][]byte
	for i := 0; i < min(n, 1000); i++ {
		a, b := lineLen(names), lineLen(first)
		if a == 0 || b == 0 {
			break
		}
		pairs = append(pairs, [2][]byte{names[:a-1], first[:b-1]})
		names, first = names[a:], first[b:]
	}
	tried := []rule{{}}
	for _, mark := range []byte(marksTried) {
		for _, p := range pairs {
			// The bytes are those of the first pair that has the mark.
			i := bytes.LastIndexByte(p[1], mark)
			if i >= 0 && i+1 < min(len(p[0]), len(p[1])) && p[0][i+1] != p[1][i+1] {
				tried = append(tried, rule{mark, p[1][i+1], p[0][i+1]})
				break
			}
		}
	}
	best, most := rule{}, -1
	for _, r := range tried {
		k := 0
		for _, p := range pairs {
			k += rc.BitOf(r.follows(p[0], p[1]))
		}
		if k > most {
			best, most = r, k
		}
	}
	return best
}

// mate codes a second mate's name.
func (c *codec) mate(name, first []byte, r rule) {
	follows := 0
	if !c.Decoding() {
		follows = rc.BitOf(r.follows(name, first))
	}
	if c.direct(follows, hash(hRule, 0, 0), 1000) == 0 {
		c.name(name, first)
		return
	}
	if c.Decoding() {
		from := len(c.out)
		c.out = append(c.out, first...)
		if i := r.place(first); i >= 0 {
			c.out[from+i] = r.to
		}
	}
}
