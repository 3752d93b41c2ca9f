package tables

import (
	"math"

	"orcomgo/compress/numbers"
)

// Depths of coverage are quotients: bases that are covered, divided by the length of a contig. All values of a row then have the
// same denominator, which is not in the table. The encoder looks for it; if it finds one in most rows, it codes the denominator and
// the numerators as columns before those of the table, which the latter are then predicted from. A decoder has no use for them.

const (
	minDenominator  = 32 // of the rows that are looked at first, since any numbers may have small ones
	maxDenominator  = 20000
	minFractions    = 2    // columns
	fractionSample  = 64   // rows that are looked at first
	shareOfRows     = 0.75 // that must have a denominator
	shareOfBits     = 0.75 // likewise: what they and the numerators take of what the values do, at most
	roundingSteps   = 1.01 // in units of the last decimal
	roundingShare   = 1.5e-6
	minScale        = 3 // decimals of values
	fractionMinRows = 32
)

// fractions returns the denominators of rows and the numerators of columns of numbers, if most rows seem to have a denominator;
// otherwise nil.
func fractions(columns []*numeric) []numbers.Column {
	groups := map[int][]*numeric{}
	var group []*numeric
	for _, n := range columns {
		if n != nil && n.decimals >= minScale && n.decimals <= 9 {
			groups[n.decimals] = append(groups[n.decimals], n)
			if len(groups[n.decimals]) > len(group) {
				group = groups[n.decimals]
			}
		}
	}
	if len(group) < minFractions || len(group[0].values) < fractionMinRows {
		return nil
	}
	rows := len(group[0].values)
	found, tried := 0, 0
	for i := range fractionSample {
		if d, share := denominator(group, i*rows/fractionSample); share > 0 {
			tried++
			if d >= minDenominator && share < shareOfBits {
				found++
			}
		}
	}
	if float64(found) < float64(tried)*shareOfRows || tried < fractionSample/4 {
		return nil
	}
	lists := make([]numbers.Column, 1+len(group))
	for i := range lists {
		lists[i] = numbers.Column{Values: make([]int64, rows)}
	}
	scale := float64(powers[group[0].decimals])
	for r := range rows {
		d, _ := denominator(group, r)
		lists[0].Values[r] = d
		for j, n := range group {
			lists[j+1].Values[r] = int64(math.Round(float64(n.values[r]) * float64(d) / scale))
		}
	}
	return lists
}

// denominator returns the smallest denominator of a row, or 0, and what it and the numerators take as a share of the values: 0 if these are
// less than two that can have one.
func denominator(group []*numeric, r int) (d int64, share float64) {
	scale := float64(powers[group[0].decimals])
	var values, tolerances [64]float64
	n, bits := 0, 0.0
	for _, c := range group {
		if v := c.values[r]; v > 0 && v < 1e12 && n < len(values) {
			values[n] = float64(v) / scale
			tolerances[n] = (roundingSteps + float64(float64(v)*roundingShare)) / scale
			bits += numbers.Log2(float64(v))
			n++
		}
	}
	if n < 2 {
		return 0, 0
	}
next:
	for d := 1.0; d <= maxDenominator; d++ {
		for i, v := range values[:n] {
			x := float64(v * d)
			if math.Abs(x-math.Round(x)) > float64(tolerances[i]*d) {
				continue next
			}
		}
		numerators := numbers.Log2(d)
		for _, v := range values[:n] {
			numerators += numbers.Log2(float64(v*d) + 1)
		}
		if numerators < bits {
			return int64(d), numerators / bits
		}
		break
	}
	return 0, 1
}
