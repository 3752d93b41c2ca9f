package bins

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"orcomgo/bins/commit"
	"orcomgo/internal/largepages"
)

// pieceLen is how much memory a scratch takes at a time, in bytes.
const pieceLen = 1 << 20

// budget is the memory, in bytes, that the scratch files of one archive share.
type budget struct {
	dir         string // where files without names are made for what exceeds it; "" for the directory of their paths
	mu          sync.Mutex
	limit, used uint64
}

// take takes n bytes, if there are so many.
func (b *budget) take(n uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.limit || b.used > b.limit-n {
		return false
	}
	b.used += n
	return true
}

// scratch is one of the two files of bins. If they get no name, it is in memory until its budget is used up or spill is called, and
// from then on in a file without a name in the directory of the budget; else it is in the file that is to get the name. It is safe for
// concurrent use, Close excepted.
type scratch struct {
	path   string // the name that the file would have, for messages
	budget *budget

	mu     sync.RWMutex // held for writing while one of the following is changed
	size   uint64
	pieces [][]byte  // of pieceLen bytes each; those that follow it in memory are within its capacity
	file   *tempFile // nil while the content is in pieces
}

func newScratch(path string, b *budget) *scratch {
	return &scratch{path: path + " (temporary)", budget: b}
}

// Name returns the path for messages.
func (s *scratch) Name() string { return s.path }

func (s *scratch) WriteAt(p []byte, at int64) (int, error) {
	if err := s.grow(uint64(at) + uint64(len(p))); err != nil {
		return 0, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.file != nil {
		return s.file.WriteAt(p, at)
	}
	for done := 0; done < len(p); {
		i, from := (int(at)+done)/pieceLen, (int(at)+done)%pieceLen
		done += copy(s.pieces[i][from:], p[done:])
	}
	return len(p), nil
}

// grow makes room for size bytes, in a file if there is not enough memory.
func (s *scratch) grow(size uint64) error {
	s.mu.RLock()
	enough := size <= s.size
	s.mu.RUnlock()
	if enough {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := uint64(len(s.pieces)) * pieceLen; s.file == nil && have < size {
		n := (size - have + pieceLen - 1) / pieceLen
		if s.budget.take(n * pieceLen) {
			for memory := largepages.AskForMany(make([]byte, n*pieceLen)); len(memory) > 0; memory = memory[pieceLen:] {
				s.pieces = append(s.pieces, memory[:pieceLen])
			}
		} else if err := s.moveToFile(); err != nil {
			return err
		}
	}
	s.size = max(s.size, size)
	return nil
}

// moveToFile moves the content from memory to a file. s.mu must be held for writing.
func (s *scratch) moveToFile() error {
	dir := s.budget.dir
	if dir == "" {
		dir = filepath.Dir(s.path)
	}
	temp, err := commit.NewUnnamed(dir, s.path)
	if err != nil {
		return err
	}
	f := &tempFile{Temp: temp}
	for i, p := range s.pieces {
		at := uint64(i) * pieceLen
		if _, err := f.WriteAt(p[:min(s.size-min(at, s.size), pieceLen)], int64(at)); err != nil {
			f.Discard()
			return err
		}
	}
	s.file = f
	s.drop()
	return nil
}

// drop frees the pieces.
func (s *scratch) drop() {
	s.budget.mu.Lock()
	s.budget.used -= uint64(len(s.pieces)) * pieceLen
	s.budget.mu.Unlock()
	s.pieces = nil
}

// spill moves the content to a file, unless it is in one.
func (s *scratch) spill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		return nil
	}
	return s.moveToFile()
}

// forget gives back what n bytes take in a file.
func (s *scratch) forget(at, n int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.file != nil {
		s.file.Forget(at, n)
	}
}

// held returns how many bytes of memory the content takes.
func (s *scratch) held() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return uint64(len(s.pieces)) * pieceLen
}

// Size returns how many bytes have been written, up to the last one.
func (s *scratch) Size() (int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return int64(s.size), nil
}

func (s *scratch) ReadAt(p []byte, at int64) (int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if at < 0 {
		return 0, fmt.Errorf("%s: read at %d", s.path, at)
	}
	if s.file != nil {
		return s.file.ReadAt(p, at)
	}
	done := 0
	for done < len(p) && uint64(at)+uint64(done) < s.size {
		from := uint64(at) + uint64(done)
		piece := s.pieces[from/pieceLen][from%pieceLen:]
		done += copy(p[done:], piece[:min(s.size-from, uint64(len(piece)))])
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// view returns n bytes of the content where they lie in memory, and nil if they are in a file or not together. They must not be changed.
func (s *scratch) view(at, n uint64) []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.file != nil || at+n > s.size {
		return nil
	}
	p, from := s.pieces[at/pieceLen], at%pieceLen
	if from+n > uint64(cap(p)) {
		return nil
	}
	return p[from : from+n : from+n]
}

// Close frees the memory, or removes the file. The scratch can't be used any more.
func (s *scratch) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	if s.file != nil {
		s.file.Discard()
	}
	s.size, s.file = 0, nil
	return nil
}
