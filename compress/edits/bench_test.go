package edits

import (
	"testing"

	"orcomgo/cmd/simreads/sim"
)

// BenchmarkReads codes HiFi and nanopore reads with and without their qualities; SetBytes counts bases.
func BenchmarkReads(b *testing.B) {
	for _, c := range []struct {
		name      string
		config    sim.Config
		qualities bool
	}{
		{"hifi", sim.Config{Quality: sim.HiFi, Indels: 0.002}, false},
		{"hifi,qualities", sim.Config{Quality: sim.HiFi, Indels: 0.002}, true},
		{"nanopore", sim.Config{Quality: sim.Nanopore, Indels: 0.025}, false},
		{"nanopore,qualities", sim.Config{Quality: sim.Nanopore, Indels: 0.025}, true},
	} {
		d := draw(b, 300_000, 10, c.config)
		o := d.options(c.qualities)
		section := d.encode(o)
		b.Run(c.name+"/encode", func(b *testing.B) {
			b.SetBytes(int64(d.bases))
			for b.Loop() {
				d.encode(o)
			}
		})
		b.Run(c.name+"/decode", func(b *testing.B) {
			b.SetBytes(int64(d.bases))
			var buf []byte
			for b.Loop() {
				x, err := NewDecoder(section, o, d.bases)
				if err != nil {
					b.Fatal(err)
				}
				for _, r := range d.reads {
					if len(buf) < len(r.bases) {
						buf = make([]byte, len(r.bases))
					}
					if _, err := x.Next(buf[:len(r.bases)], r.quals); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
