package agentkit

import (
	"encoding/json"
	"errors"
)

// Decode is json.Unmarshal for what another program wrote: a member that has another
// shape than it used to have is left out, and the others are read.
func Decode(doc []byte, v any) error {
	err := json.Unmarshal(doc, v)
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) {
		return nil
	}
	return err
}
