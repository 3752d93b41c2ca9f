//go:build !amd64

package quals

func (c *coder) code(step, end int) int { return c.codePlain(step, end) }

func (c *coder) spread(int) bool { return false }

func (c *coder) collect(int) (done int) { return 0 }
