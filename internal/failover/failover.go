// Package failover is about devices, such as GPUs, that are not used any more once they failed.
package failover

import "sync"

// State says whether a device is still used, and tells the user once if it is not. The zero value is of a device that works; any number
// of goroutines may use it.
type State struct {
	note   func(line string)
	mutex  sync.Mutex
	failed bool
	noted  bool
}

// New returns the state of a device that works. note, unless it is nil, is called with lines for the user, one call at a time.
func New(note func(line string)) *State { return &State{note: note} }

// Failed reports whether GiveUp was called.
func (s *State) Failed() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.failed
}

// GiveUp says that the device is not used any more. The first call notes the line.
func (s *State) GiveUp(line string) { s.once(&s.failed, line) }

// Note notes the line of the first call. The device is used as before.
func (s *State) Note(line string) { s.once(&s.noted, line) }

func (s *State) once(done *bool, line string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !*done && s.note != nil {
		s.note(line)
	}
	*done = true
}
