package bwt

import "testing"

// TestEndOfText: the last suffix, of seven symbols of nine bits, is equal to an earlier one up to the eighth bit of the symbol after its
// end, which is 0 there and the least one here. So keys are compared that begin beyond the text.
func TestEndOfText(t *testing.T) {
	var text []byte
	for i := range 4 * 256 {
		text = append(text, byte(i))
	}
	text = append(text, "\xc8\xc9\xca\xcb\xcc\xcd\xce\x00+\xc8\xc9\xca\xcb\xcc\xcd\xce"...)
	for len(text) < 1056 {
		text = append([]byte{'-'}, text...)
	}
	check(t, text, 1)
}
