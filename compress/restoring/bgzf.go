package restoring

import (
	"bytes"
	"context"

	"golang.org/x/sync/errgroup"

	"orcomgo/compress/workers"
	"orcomgo/internal/deflate"
)

// bgzfTask is how many members of BGZF one task compresses.
const bgzfTask = 64

// bgzfMembers returns text as members of BGZF, without the end of a file; nothing for no text. Equal text gives equal bytes. It is
// called by a task of the pool, whose other places compress as well.
func bgzfMembers(ctx context.Context, pool workers.Pool, text []byte) ([]byte, error) {
	const each = deflate.BGZFText * bgzfTask
	parts := make([][]byte, (len(text)+each-1)/each)
	g, ctx := errgroup.WithContext(ctx)
	for i := range parts {
		g.Go(func() error {
			return pool.Do(ctx, func() error {
				parts[i] = deflate.AppendBGZF(nil, text[i*each:min((i+1)*each, len(text))])
				return nil
			})
		})
	}
	var err error
	pool.ReleaseWhile(func() { err = g.Wait() })
	return bytes.Join(parts, nil), err
}
