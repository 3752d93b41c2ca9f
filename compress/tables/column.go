package tables

import (
	"encoding/binary"
	"slices"

	"orcomgo/bins/parse"
)

// form is how a field of a column of numbers is written.
type form struct {
	style    byte
	decimals int    // of the field, for styleFixed
	steps    int64  // of styleFloat
	literal  string // the field, if it is no number
}

// numeric is a column of numbers. Fields that are none are literals.
type numeric struct {
	decimals int // that all values have; those of styleFixed may show fewer
	forms    []form
	numbers  int     // of the forms; the others are literals
	form     []int64 // of each row
	values   []int64
}

const maxForms = 64 // of a column of numbers

// parseNumeric parses a column of numbers. It reports false if the column is not one.
func parseNumeric(fields [][]byte) (*numeric, bool) {
	n := &numeric{form: make([]int64, len(fields)), values: make([]int64, len(fields))}
	decimals := make([]decimal, len(fields))
	isNumber := make([]bool, len(fields))
	var histogram [maxDigits + 2]int
	literals := 0
	dropped, fixed := true, -2 // whether all fields are written so; fixed is the number of decimals of all, or -1
	for i, f := range fields {
		d, ok := parseDecimal(f)
		if !ok {
			literals++
			continue
		}
		decimals[i], isNumber[i] = d, true
		k := max(d.decimals, 0)
		histogram[k]++
		if fixed == -2 {
			fixed = k
		} else if fixed != k {
			fixed = -1
		}
		dropped = dropped && d.zeros == 0
	}
	if literals > len(fields)-1 || len(fields) > 50 && literals > len(fields)*9/10 {
		return nil, false
	}
	n.decimals = scaleOf(histogram[:], len(fields)-literals)
	base := form{style: styleFixed, decimals: -1}
	switch {
	case fixed >= 0:
		base.decimals = fixed
		n.decimals = fixed
	case dropped:
		base.style = styleDropped
	}
	number := map[form]int64{}
	choose := func(f form) int64 {
		k, ok := number[f]
		if !ok {
			k = int64(len(n.forms))
			number[f] = k
			n.forms = append(n.forms, f)
		}
		return k
	}
	for i, f := range fields {
		d := decimals[i]
		k := max(d.decimals, 0)
		more := n.decimals - k // digits, of which there are maxDigits together at most
		switch {
		case !isNumber[i]:
			n.form[i] = choose(form{literal: string(f), style: styleLiteral})
		case more >= 0 && more < maxDigits && max(d.value, -d.value) <= powers[maxDigits-more]:
			n.values[i] = d.value * powers[more]
			w := base
			if w.style == styleFixed && w.decimals < 0 {
				w.decimals = k
			}
			n.form[i] = choose(w)
		default:
			v, steps, ok := parseFloat(f, n.decimals)
			if ok {
				n.values[i] = v
				n.form[i] = choose(form{style: styleFloat, steps: steps})
			} else {
				n.form[i] = choose(form{literal: string(f), style: styleLiteral})
			}
		}
		if len(n.forms) > maxForms {
			return nil, false
		}
	}
	n.sortForms()
	return n, true
}

// scaleOf returns the number of decimals for the values of a column, given how many fields have 0, 1, ... decimals: the largest, or if
// that is from 12 on, the largest below that many fields have.
func scaleOf(histogram []int, total int) int {
	most := 0
	for k, n := range histogram {
		if n > 0 {
			most = k
		}
	}
	if most < 12 {
		return most
	}
	chosen := most
	for k := 0; k < 12; k++ {
		if histogram[k]*8 > total {
			chosen = k
		}
	}
	return chosen
}

// sortForms gives numbers the lower forms, in the order of how often they occur.
func (n *numeric) sortForms() {
	counts := make([]int, len(n.forms))
	for _, f := range n.form {
		counts[f]++
	}
	order := make([]int, len(n.forms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if x, y := n.forms[a].style == styleLiteral, n.forms[b].style == styleLiteral; x != y {
			if x {
				return 1
			}
			return -1
		}
		return counts[b] - counts[a]
	})
	place := make([]int64, len(order))
	forms := make([]form, len(order))
	n.numbers = 0
	for to, from := range order {
		place[from], forms[to] = int64(to), n.forms[from]
		if forms[to].style != styleLiteral {
			n.numbers++
		}
	}
	n.forms = forms
	for i, f := range n.form {
		n.form[i] = place[f]
	}
}

// appendField appends the field of a row.
func (n *numeric) appendField(dst []byte, r int) []byte {
	v := n.values[r]
	switch f := &n.forms[n.form[r]]; f.style {
	case styleFixed:
		return appendFixed(dst, v/powers[n.decimals-f.decimals], f.decimals)
	case styleDropped:
		return appendDropped(dst, v, n.decimals)
	case styleFloat:
		return appendFloat(dst, v, n.decimals, f.steps)
	default:
		return append(dst, f.literal...)
	}
}

// appendHeader appends what a reader needs besides the forms and values of rows.
func (n *numeric) appendHeader(dst []byte) []byte {
	dst = append(dst, byte(n.decimals), byte(len(n.forms)))
	for _, f := range n.forms {
		dst = append(dst, f.style)
		switch f.style {
		case styleFixed:
			dst = append(dst, byte(f.decimals))
		case styleFloat:
			dst = binary.AppendVarint(dst, f.steps)
		case styleLiteral:
			dst = parse.AppendBlock(dst, f.literal)
		}
	}
	return dst
}
