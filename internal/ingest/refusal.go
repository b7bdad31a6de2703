package ingest

import (
	"fmt"
	"net/http"
)

// refusal is an answer other than 202. Its message names fields and ids, never
// what a run says.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return fmt.Sprintf("ingest: %d: %s", r.status, r.message) }

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status: status, message: fmt.Sprintf(format, args...)}
}

// invalid is LangSmith's answer to a request whose framing, JSON or shapes are
// wrong.
func invalid(format string, args ...any) *refusal {
	return refuse(http.StatusUnprocessableEntity, format, args...)
}
