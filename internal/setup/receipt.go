package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
	"github.com/tracesmith/tracesmith/internal/private"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// receiptVersion is the format of receipts.
const receiptVersion = 1

// maxReceipt bounds a receipt: a settings file in base64, and room.
const maxReceipt = 2 * maxSettings

// Receipt says what a settings file was before the hooks were put in.
type Receipt struct {
	Version int       `json:"version"`
	Agent   string    `json:"agent"`
	Scope   Scope     `json:"scope"`
	Dir     string    `json:"dir,omitempty"` // the project's folder
	Path    string    `json:"path"`
	At      time.Time `json:"at"`
	Created bool      `json:"created,omitempty"` // there was no such file
	Folder  string    `json:"folder,omitempty"`  // the topmost folder that was made for it
	Before  []byte    `json:"before,omitempty"`
	// Hashes are SHA-256 in hexadecimal digits.
	BeforeHash string `json:"before_sha256"`
	AfterHash  string `json:"after_sha256"`
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// untouched reports whether a text is what the install left.
func (r *Receipt) untouched(text []byte) bool { return r != nil && r.AfterHash == hash(text) }

// receipts is the folder that holds them.
type receipts struct{ dir string }

func (r receipts) path(agent, file string) string {
	return filepath.Join(r.dir, agent+"-"+hash([]byte(file))[:16]+".json")
}

// find returns an agent's receipt for a file; nil if there is none or it cannot be
// read: the hooks can be taken out without it.
func (r receipts) find(agent, file string) *Receipt {
	found, err := readReceipt(r.path(agent, file))
	if err != nil || found.Path != file || found.Agent != agent {
		return nil
	}
	return found
}

// all lists the receipts, sorted by path.
func (r receipts) all() ([]Receipt, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("setup: receipts: %w", err)
	}
	var list []Receipt
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".json") {
			continue
		}
		if found, err := readReceipt(filepath.Join(r.dir, entry.Name())); err == nil {
			list = append(list, *found)
		}
	}
	slices.SortFunc(list, func(a, b Receipt) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

func (r receipts) put(one Receipt) error {
	if err := private.Dir(r.dir); err != nil {
		return fmt.Errorf("setup: receipt: %w", err)
	}
	raw, err := json.MarshalIndent(one, "", "  ")
	if err != nil {
		return fmt.Errorf("setup: receipt: %w", err)
	}
	return atomicfile.Write(r.path(one.Agent, one.Path), append(raw, '\n'))
}

func (r receipts) drop(agent, file string) error {
	if err := os.Remove(r.path(agent, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("setup: receipt: %w", err)
	}
	return nil
}

func readReceipt(path string) (*Receipt, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxReceipt+1))
	if err != nil {
		return nil, err
	}
	found := new(Receipt)
	if err := json.Unmarshal(raw, found); err != nil {
		return nil, err
	}
	if found.Version != receiptVersion || found.BeforeHash != hash(found.Before) {
		return nil, errors.New("not a receipt of this version")
	}
	return found, nil
}
