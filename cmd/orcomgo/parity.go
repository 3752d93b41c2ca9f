package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"orcomgo/compress/parity"
)

// share is the pflag.Value of --parity: which part of an archive can be restored if it is damaged.
type share float64

func (p *share) define(f *pflag.FlagSet) {
	*p = 0.01
	f.Var(p, "parity", "how `MUCH` of the archive can be repaired if it is damaged: up to 20%, or none")
}

func (p *share) Set(text string) error {
	if text == "none" {
		*p = 0
		return nil
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !strings.HasSuffix(text, "%") || !(v >= 0.01 && v <= 100*parity.MaxShare) {
		return errors.New("parity is a part of the archive, from 0.01% to 20%, or none")
	}
	*p = share(v / 100)
	return nil
}

func (p *share) Type() string { return "share" }

func (p *share) String() string {
	if *p == 0 {
		return "none"
	}
	return strconv.FormatFloat(100*float64(*p), 'g', 4, 64) + "%"
}
