package modelcall

import (
	"bytes"
	"io"
	"net/http"
)

// peek reads the request's body for the record and returns a request whose body
// is as good as new. whole is false if the body is larger than what is recorded.
func peek(req *http.Request, limit int) (again *http.Request, body []byte, whole bool) {
	if req.GetBody != nil {
		if copied, err := req.GetBody(); err == nil {
			defer copied.Close()
			body, whole = head(copied, limit)
			return req, body, whole
		}
	}
	original := req.Body
	read, err := io.ReadAll(io.LimitReader(original, int64(limit)+1))
	rest := io.Reader(original)
	if err != nil {
		rest = failing{err}
	}
	again = req.Clone(req.Context())
	again.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), rest), original}
	if err != nil || len(read) > limit {
		return again, nil, false
	}
	return again, read, true
}

// head reads a body, if it is not too large.
func head(from io.Reader, limit int) ([]byte, bool) {
	body, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
	if err != nil || len(body) > limit {
		return nil, false
	}
	return body, true
}

// failing is a reader that has nothing but an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
