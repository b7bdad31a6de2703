package modelserver

import "testing"

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"SCENARIO:plain"}]}`,
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"<task-notification>"}]},{"role":"assistant","content":[]}]}`,
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":null}]}`,
		`[]`,
	} {
		f.Add([]byte(seed))
	}
	script := Script("/repo")
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := decode(raw)
		if err != nil {
			return
		}
		name, step := b.place(script)
		if name == "" || step < 0 || step > len(b.Messages) {
			t.Errorf("scenario %q, step %d of %d messages", name, step, len(b.Messages))
		}
	})
}
