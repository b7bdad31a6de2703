package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// maxFile is how much of the file is read.
const maxFile = 1 << 20

// file is the part of config.json that matters here.
type file struct {
	Current  string              `json:"current_profile"`
	Profiles map[string]*profile `json:"profiles"`
}

type profile struct {
	URL         string `json:"api_url"`
	APIKey      string `json:"api_key"`
	WorkspaceID string `json:"workspace_id"`
	OAuth       oauth  `json:"oauth"`
}

type oauth struct {
	AccessToken  string    `json:"access_token"`
	RefreshToken string    `json:"refresh_token"`
	ExpiresAt    timestamp `json:"expires_at"`
}

// timestamp is one that is zero where it cannot be read.
type timestamp struct{ time.Time }

func (t *timestamp) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		t.Time, _ = time.Parse(time.RFC3339, text) // zero: it does not expire
	}
	return nil
}

func readFile(path string) (*file, error) {
	raw, err := readAll(path)
	if err != nil {
		return nil, err
	}
	f := new(file)
	if json.Unmarshal(raw, f) != nil { // its error may quote a key
		return nil, errors.New("profile: the file is not what langsmith login writes")
	}
	return f, nil
}

func readAll(path string) ([]byte, error) {
	r, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, maxFile))
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	return raw, nil
}

// pick finds the profile by name, else the current one, else that named default.
func (f *file) pick(name string) (string, *profile) {
	if name != "" {
		return name, f.Profiles[name]
	}
	for _, name := range []string{f.Current, "default"} {
		if p := f.Profiles[name]; p != nil {
			return name, p
		}
	}
	return "", nil
}

// writeOAuth replaces the tokens of a profile and leaves everything else in the
// file as it is.
func writeOAuth(path, name string, o oauth) error {
	raw, err := readAll(path)
	if err != nil {
		return err
	}
	fresh := map[string]any{"access_token": o.AccessToken, "refresh_token": o.RefreshToken, "expires_at": nil}
	if !o.ExpiresAt.IsZero() {
		fresh["expires_at"] = o.ExpiresAt.UTC().Format(time.RFC3339)
	}
	raw, err = update(raw, []string{"profiles", name, "oauth"}, fresh)
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	if err := atomicfile.Write(path, append(raw, '\n')); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return nil
}

// update sets members of the object at a path within a JSON object; nil takes one out.
func update(raw json.RawMessage, path []string, members map[string]any) (json.RawMessage, error) {
	object := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	if len(path) > 0 {
		inner, ok := object[path[0]]
		if !ok {
			inner = json.RawMessage("{}")
		}
		changed, err := update(inner, path[1:], members)
		if err != nil {
			return nil, err
		}
		object[path[0]] = changed
		return json.MarshalIndent(object, "", "  ")
	}
	for name, value := range members {
		if value == nil {
			delete(object, name)
			continue
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		object[name] = encoded
	}
	return json.Marshal(object)
}
