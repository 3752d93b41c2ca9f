package groups

import (
	"math"
	"slices"
)

// What is known of decoding, in microseconds of one thread, measured on genomes of viruses and bacteria and on simulated reads. Where it
// differs, as between qualities of four levels and of forty, these are the smaller values: a larger pseudogenome counts more with them.
const (
	decodeStart     = 10e3  // what any archive takes
	decodeSample    = 20    // what each other sample of the archive takes
	decodeBase      = 0.085 // a base of the pseudogenome of reads, which is decoded whole
	decodeText      = 0.013 // a byte of text with qualities
	decodeAssembled = 0.06  // a base of the pseudogenome of assemblies
	decodeLetter    = 0.005 // a byte of text without qualities
)

// slowest is how many times longer restoring a sample of a group may take than if it had an archive of its own. It is less than the 1.3
// that are promised, since the times above are averages.
const slowest = 1.2

const (
	// savedBase is how many bytes an archive is smaller for a base that two samples share: nearly two bits.
	savedBase = 0.24
	// leastSaved is which share of the text a group must save to be worth while: about a hundredth of the archives.
	leastSaved = 0.001
)

// Sample is a sample that may be archived together with others.
type Sample struct {
	*Sketch
	// Files are the names that its inputs are restored under. Samples that share one can't be in one archive.
	Files []string
}

// text returns how many bytes the sketch is of.
func (s *Sample) text() float64 { return float64(s.Text) }

// restoring returns about how long the sample takes to be restored from an archive with a pseudogenome of so many bases.
func (s *Sample) restoring(bases float64) float64 {
	base, text := decodeBase, decodeText
	if s.kind() == assemblies {
		base = decodeAssembled
	}
	if s.Assembly {
		text = decodeLetter
	}
	return decodeStart + base*bases + text*s.text()
}

// bases returns about how many bases its own pseudogenome has.
func (s *Sample) bases() float64 { return (*union)(nil).with(s.Sketch).size() }

// alone is restoring of an archive of its own.
func (s *Sample) alone() float64 { return s.restoring(s.bases()) }

// Restoring returns about how many times longer restoring each sample of a part takes from an archive of all of them than from one of its
// own.
func Restoring(list []Sample, part []int) []float64 {
	kinds := make(map[kind]*union)
	for _, i := range part {
		kinds[list[i].kind()] = kinds[list[i].kind()].with(list[i].Sketch)
	}
	cost := decodeBase
	if kinds[assemblies] != nil && len(kinds) == 1 {
		cost = decodeAssembled
	}
	all := decodeSample * float64(len(part)-1)
	for _, u := range kinds {
		all += cost * u.size()
	}
	times := make([]float64, len(part))
	for k, i := range part {
		times[k] = (list[i].restoring(0) + all) / list[i].alone()
	}
	return times
}

// Archives divides samples into those that are to share an archive: groups of similar ones (Find), of which each is still restored in at
// most slowest times the time that it takes alone, and which save something. It returns the numbers of the samples of each, ascending;
// most samples may have an archive of their own.
func Archives(list []Sample, threads int) [][]int {
	var sketches []*Sketch
	for i := range list {
		sketches = append(sketches, list[i].Sketch)
	}
	var all [][]int
	for _, group := range Find(sketches, threads) {
		for _, p := range bounded(list, group) {
			if len(p.samples) > 1 && !p.saves(list) {
				for _, i := range p.samples {
					all = append(all, []int{i})
				}
				continue
			}
			all = append(all, p.samples)
		}
	}
	slices.SortFunc(all, func(a, b []int) int { return a[0] - b[0] })
	return all
}

// archive is samples of a group that may share an archive.
type archive struct {
	samples []int // their numbers in a list
	kmers   *union
	files   map[string]bool
	most    float64 // how many microseconds restoring may take, less what its text takes, of the sample that may take least
}

// bounded divides a group into parts none of whose samples takes too long to be restored: each sample goes to the first part that it
// fits into.
func bounded(list []Sample, group []int) (parts []*archive) {
	for _, i := range group {
		if slices.ContainsFunc(parts, func(p *archive) bool { return p.add(list, i) }) {
			continue
		}
		p := &archive{files: make(map[string]bool), most: math.Inf(1)}
		p.add(list, i)
		parts = append(parts, p)
	}
	return parts
}

// add adds sample i of a list if it fits, as the first one does.
func (p *archive) add(list []Sample, i int) bool {
	s := &list[i]
	if p.kmers != nil && p.kmers.kind != s.kind() || slices.ContainsFunc(s.Files, func(name string) bool { return p.files[name] }) {
		return false
	}
	kmers, most := p.kmers.with(s.Sketch), min(p.most, slowest*s.alone()-s.restoring(0))
	if s.restoring(kmers.size())-s.restoring(0)+decodeSample*float64(len(p.samples)) > most {
		return false
	}
	p.samples, p.kmers, p.most = append(p.samples, i), kmers, most
	for _, name := range s.Files {
		p.files[name] = true
	}
	return true
}

// saves reports whether an archive of all is smaller than one of each by enough.
func (p *archive) saves(list []Sample) bool {
	sum, text := 0.0, 0.0
	for _, i := range p.samples {
		sum, text = sum+list[i].bases(), text+list[i].text()
	}
	return savedBase*(sum-p.kmers.size()) > leastSaved*text
}
