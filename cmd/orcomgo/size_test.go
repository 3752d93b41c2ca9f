package main

import "testing"

func TestSize(t *testing.T) {
	for text, want := range map[string]uint64{
		"1": 1, "4096": 4096, "256MB": 256e6, "64MiB": 64 << 20, "1G": 1e9, "1.5G": 1.5e9, "2k": 2000, "3KiB": 3072,
		"10 GB": 10e9, "1TiB": 1 << 40, "7b": 7, "5mi": 5 << 20,
	} {
		var s size
		if err := s.Set(text); err != nil || uint64(s) != want {
			t.Errorf("%q is %d (%v), want %d", text, s, err, want)
		}
		var again size
		if err := again.Set(s.String()); err != nil || again != s {
			t.Errorf("%q prints as %q, which is %d (%v)", text, s.String(), again, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "MB", "1X", "1MMB", "1e9", "0x10", "NaN", "Inf", "1BB", "1MiBi", "9999999T",
		"0.5", "1,5G", "1.5.5M", "18446744073709551616"} {
		var s size
		if err := s.Set(text); err == nil {
			t.Errorf("%q is a size of %d", text, s)
		}
	}
}

func TestBytesText(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 B", 999: "999 B", 1000: "1.00 kB", 9994: "9.99 kB", 9999: "10.0 kB", 142558748: "143 MB",
		999_400_000: "999 MB", 15_456_288: "15.5 MB",
	} {
		if got := bytesText(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}

func TestCountText(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 12_345_678: "12,345,678", 1 << 62: "4,611,686,018,427,387,904"} {
		if got := countText(n); got != want {
			t.Errorf("%d prints as %q, want %q", n, got, want)
		}
	}
}
