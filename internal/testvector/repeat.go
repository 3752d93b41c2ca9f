package testvector

import (
	"strconv"
	"strings"
	"testing"
)

// repetition makes the lines of a field with "times" in its key: testdata/vectors/README.md, section Repetition.
type repetition struct {
	k     uint64 // the number of the repetition
	drawn uint64 // the state of the generator of r
}

// repeated returns lines so many times, one time after another, with what is in braces computed.
func repeated(t testing.TB, lines []string, times int) (all []string) {
	t.Helper()
	g := repetition{}
	for k := range times {
		g.k = uint64(k)
		for _, l := range lines {
			all = append(all, g.line(t, l))
		}
	}
	return all
}

func (g *repetition) line(t testing.TB, l string) string {
	var b strings.Builder
	for {
		plain, rest, found := strings.Cut(l, "{")
		b.WriteString(plain)
		if !found {
			return b.String()
		}
		braced, after, closed := strings.Cut(rest, "}")
		if !closed {
			t.Fatalf("%q: } expected", l)
		}
		expression, choice, letters := strings.Cut(braced, ":")
		if at := strings.LastIndexByte(choice, ':'); letters && at > 0 {
			for range toInt(t, choice[at+1:]) {
				b.WriteByte(choice[:at][g.value(t, expression)%uint64(at)])
			}
		} else {
			b.WriteString(strconv.FormatUint(g.value(t, expression), 10))
		}
		l = after
	}
}

// value computes an expression from left to right.
func (g *repetition) value(t testing.TB, expression string) (v uint64) {
	op := byte('+')
	for rest := expression; ; {
		n := strings.IndexAny(rest, "+-*/%")
		word := rest
		if n >= 0 {
			word = rest[:n]
		}
		var x uint64
		switch word {
		case "k":
			x = g.k
		case "r":
			g.drawn = g.drawn*6364136223846793005 + 1442695040888963407
			x = g.drawn >> 33
		default:
			x = uint64(toInt(t, word))
		}
		switch op {
		case '+':
			v += x
		case '-':
			v -= x
		case '*':
			v *= x
		case '/':
			v /= x
		case '%':
			v %= x
		}
		if n < 0 {
			return v
		}
		op, rest = rest[n], rest[n+1:]
	}
}
