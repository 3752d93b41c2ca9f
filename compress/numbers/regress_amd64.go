package numbers

import "github.com/klauspost/cpuid/v2"

// hasAVX2 reports whether the processor has the vector instructions that are used.
var hasAVX2 = cpuid.CPU.Supports(cpuid.AVX2)

// update adds a row to the sums: what its regressors had to predict is y.
func (g *regress) update(y float64) {
	if !hasAVX2 {
		g.updatePlain(y)
		return
	}
	learnVector(&g.a[0], &g.b[0], &g.x[0], g.n, g.stride, forget, y)
}

// factor replaces g.u by its Cholesky factor and g.y by what solves the factor for it. It reports false if g.u is singular.
func (g *regress) factor() bool {
	if !hasAVX2 {
		return g.factorPlain()
	}
	return factorVector(&g.u[0], &g.y[0], g.n, g.stride, leastPivot)
}

// Both read and write up to three elements after those of a row.

//go:noescape
func learnVector(a, b, x *float64, n, stride int, forget, y float64)

//go:noescape
func factorVector(u, y *float64, n, stride int, least float64) bool
