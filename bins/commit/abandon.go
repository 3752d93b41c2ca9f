package commit

import (
	"slices"
	"sync"
	"time"
)

// leftovers are what functions of IfAbandoned undo, in the order in which it came to be.
var leftovers struct {
	sync.Mutex
	undo []*func()
}

// changing is held by those who change the names of an archive's files.
var changing sync.RWMutex

// IfAbandoned has undo called by Abandon, unless over is called before.
func IfAbandoned(undo func()) (over func()) {
	leftovers.Lock()
	defer leftovers.Unlock()
	entry := &undo
	leftovers.undo = append(leftovers.undo, entry)
	return func() {
		leftovers.Lock()
		defer leftovers.Unlock()
		leftovers.undo = slices.DeleteFunc(leftovers.undo, func(e *func()) bool { return e == entry })
	}
}

// Abandon removes temporary files that have names, and directories that MakeDir made and nothing is in, so that the process can end at
// once, whatever its goroutines do. Where an archive is being given its names, it waits until that is done, at most for patience.
// Afterwards no archive gets its names.
func Abandon(patience time.Duration) {
	for end := time.Now().Add(patience); !changing.TryLock() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	leftovers.Lock()
	for i := len(leftovers.undo) - 1; i >= 0; i-- {
		(*leftovers.undo[i])()
	}
}
