package packing

import (
	"context"
	"errors"
	"math/rand"
	"strings"
	"testing"

	"orcomgo/bins"
	"orcomgo/bins/parse"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
	"orcomgo/compress/slicing"
	"orcomgo/compress/workers"
)

// TestDecodeEarly: qualities come back from their section, with the primer of their input as it is decoded, but for the first two slices;
// others than were coded are an error; and no more are held than may be.
func TestDecodeEarly(t *testing.T) {
	const records, n = 400, 400 * 50
	ctx, rng := context.Background(), rand.New(rand.NewSource(3))
	e := &encoder{gatherer: &gatherer{packer: &packer{bins: new(bins.Reader), pool: workers.NewPool(2),
		man: archive.Manifest{Inputs: []archive.Input{{}}}}}}
	e.early.most = 2*n + n/2
	p := &inputPrimer{second: records, size: n / 4, ready: make(chan struct{}), decoded: make(chan struct{})}
	e.primers = map[columns.Reads]*inputPrimer{{}: p}
	var all []*columns.Columns
	var sections [][]byte
	for k := range 5 {
		c := &columns.Columns{From: uint64(k * records), Records: records, Lengths: record.Lengths{Fixed: n / records}}
		for range n {
			c.Quals = append(c.Quals, "#5AFFJJJ"[rng.Intn(8)])
		}
		in := quals.Input{Quals: c.Quals, Lengths: c.Lengths, Records: records, Primer: p.primer}
		section := p.encodeLeading
		if k > 0 {
			section = quals.Encode
		}
		all, sections = append(all, c), append(sections, section(in))
	}
	spec := &slicing.Spec{Unit: slicing.Unit{Mate: -1, Lead: -1}, Records: records}
	for k, c := range all {
		known, err := e.decodeEarly(ctx, spec, c, 0, sections[k])
		var want []byte
		if k == 2 || k == 3 { // the last ones are more than may be held
			want = c.Quals
		}
		if err != nil || string(known.Quals) != string(want) || want != nil && known.Hash != archive.Hash64(sections[k]) {
			t.Errorf("column %d: %d qualities, error %v", k, len(known.Quals), err)
		}
	}
	if held := e.early.held.Load(); held != 2*n {
		t.Errorf("%d bytes are held, want %d", held, 2*n)
	}
	e.early.release(n)
	_, err := e.decodeEarly(ctx, spec, all[2], 0, sections[4])
	if !errors.Is(err, parse.ErrCorrupt) || !strings.Contains(err.Error(), "verification failed") {
		t.Errorf("other qualities than were coded: error %v", err)
	}
	e.early.release(n)
	if _, err := e.decodeEarly(ctx, spec, all[2], 0, sections[2][:9]); !errors.Is(err, parse.ErrCorrupt) {
		t.Errorf("a section that is cut off: error %v", err)
	}
	e.early.most = 0
	if known, err := e.decodeEarly(ctx, spec, all[3], 0, nil); err != nil || known.Quals != nil {
		t.Errorf("not early: %d qualities, error %v", len(known.Quals), err)
	}
}

// TestEarlyQualsAreGivenBack: what was decoded early is not held once its slice is verified.
func TestEarlyQualsAreGivenBack(t *testing.T) {
	ctx, o := context.Background(), Options{Threads: manyThreads, OutDir: t.TempDir(), OutName: "x", SliceText: 20_000}
	r := binned(t, record.Options{}, strings.ReplaceAll(randomReads(2000), "II", "AF"))
	p, err := newPacker(ctx, r, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.w.Abort()
	defer p.readFiles(ctx)()
	enc, err := seqs.Build(ctx, r, seqs.Config{Threads: o.Threads, ReleaseWhile: p.pool.ReleaseWhile, Work: p.pool.Do, Hold: p.pool.Hold})
	if err == nil {
		defer p.closeEncoder()
		err = p.cut(ctx, enc)
	}
	if err != nil {
		t.Fatal(err)
	}
	e := newEncoder(p)
	if err := e.run(ctx); err != nil {
		t.Fatal(err)
	}
	if held := e.early.held.Load(); held != 0 || e.early.most == 0 || len(p.specs) < 10 {
		t.Errorf("%d slices, %d bytes are still held of at most %d", len(p.specs), held, e.early.most)
	}
}
