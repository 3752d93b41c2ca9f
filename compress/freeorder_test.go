package compress

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// TestFreeOrderSums: the SHA-256 that the manifest has of a text in free order is that of the text that comes back; and the archive is
// the same with many threads.
func TestFreeOrderSums(t *testing.T) {
	smallSlices(t)
	for _, varied := range []bool{false, true} {
		if varied && testrun.Short() {
			break
		}
		r1, r2 := simulated(31, testrun.Pick(300, 700, 900), varied)
		for kind, ins := range map[string][]input{
			"single": single("r", r1), "pair": pair(r1, r2), "numbered": single("r", r1),
			"two": append(single("r", r1), single("s", r2)...),
		} {
			o := record.Options{ReadsOnly: true, OrderAny: true}
			if kind == "numbered" {
				o = record.Options{DropNames: true, Quality: record.QualityDrop, OrderAny: true}
			}
			name := fmt.Sprintf("%s, varied lengths: %v", kind, varied)
			var first map[string]string
			all := []int{1, manyThreads, 2 * manyThreads}
			for _, threads := range testrun.Pick(all[:2], all, all) {
				dir := binTo(t, ins, o)
				packTo(t, dir, PackOptions{Threads: threads})
				if files := filesIn(t, dir); first == nil {
					first = files
				} else {
					sameFiles(t, files, first)
				}
				info, err := infoOf(dir)
				if err != nil {
					t.Fatal(err)
				}
				back := unpackAll(t, dir, UnpackOptions{Threads: 2})
				if len(back) != len(info.Inputs) {
					t.Fatalf("%s: %d texts of %d inputs came back", name, len(back), len(info.Inputs))
				}
				for _, in := range info.Inputs {
					found := false
					for _, text := range back {
						found = found || fmt.Sprintf("%x", sha256.Sum256([]byte(text))) == in.SHA256
					}
					if !found {
						t.Errorf("%s, %d threads: no text has SHA-256 %s", name, threads, in.SHA256)
					}
				}
			}
		}
	}
}
