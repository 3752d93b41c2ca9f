package report

import (
	"bytes"
	"compress/gzip"
	"math"

	"orcomgo/compress"
)

// About how much text is compressed to estimate what gzip would make of all of it, and of about how many slices. Stretches that are much
// longer than gzip's window of 32 KiB compress as the whole file does.
const (
	gzipSampleBytes  = 2 << 20
	gzipSampleSlices = 8
	gzipLevel        = 6
)

// gzipSample sums up what gzip makes of stretches of the text, at its default level.
type gzipSample struct {
	text, compressed uint64
	writer           *gzip.Writer
}

// add compresses a stretch in the middle of the text of a member of a slice, if the slice is in the sample: that depends on its number
// alone, multiplied by the golden ratio, so that no regular order of slices is in step with it. Of every text the same share is taken.
// all is how much text the archive has.
func (g *gzipSample) add(s *compress.InspectedSlice, member int, all uint64) error {
	chosen := min(gzipSampleSlices/float64(s.Of), 1)
	if _, place := math.Modf(float64(s.Number) * math.Phi); place >= chosen {
		return nil
	}
	text := s.Texts[member]
	n := int(float64(len(text)) * min(gzipSampleBytes/(chosen*float64(all)), 1))
	from := (len(text) - n) / 2
	var out bytes.Buffer
	if g.writer == nil {
		w, err := gzip.NewWriterLevel(&out, gzipLevel)
		if err != nil {
			return err
		}
		g.writer = w
	}
	g.writer.Reset(&out)
	if _, err := g.writer.Write(text[from : from+n]); err != nil {
		return err
	}
	if err := g.writer.Close(); err != nil {
		return err
	}
	g.text, g.compressed = g.text+uint64(n), g.compressed+uint64(out.Len())
	return nil
}

func (g *gzipSample) merge(d *gzipSample) {
	g.text, g.compressed = g.text+d.text, g.compressed+d.compressed
}

func (g *gzipSample) result(n *compress.Information) GzipFigures {
	f := GzipFigures{SampleBytes: g.text, SampleGzip: g.compressed}
	if g.compressed > 0 {
		f.Ratio6 = float64(g.text) / float64(g.compressed)
	}
	for i := range n.Inputs {
		file := n.Inputs[i].File
		if file == nil {
			f.StoredBytes, f.StoredCompressed = 0, 0
			break
		}
		f.StoredBytes += file.Bytes
		if file.Compressed {
			f.StoredCompressed++
		}
	}
	return f
}
