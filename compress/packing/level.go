package packing

import "fmt"

// Level is the effort spent on qualities, the largest column. Unpacking reads from the data what it needs to know.
type Level uint8

// The levels. The zero value is the default.
const (
	LevelDefault Level = iota
	LevelFast
	LevelMax
)

var levelNames = [...]string{LevelDefault: "default", LevelFast: "fast", LevelMax: "max"}

// String returns the level's name as ParseLevel takes it.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level %d", uint8(l))
}

// ParseLevel returns the level called "fast", "default" or "max".
func ParseLevel(s string) (Level, error) {
	for l, n := range levelNames {
		if s == n {
			return Level(l), nil
		}
	}
	return 0, fmt.Errorf("level %q: expected fast, default or max", s)
}
