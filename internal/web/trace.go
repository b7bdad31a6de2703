package web

import (
	"encoding/json"
	"net/http"
	"regexp"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

// run is one in a trace, without what was said.
type run struct {
	ID          string         `json:"id"`
	ParentID    *string        `json:"parent_id"`
	Name        string         `json:"name"`
	RunType     string         `json:"run_type"`
	Kind        string         `json:"kind"`
	Start       *string        `json:"start"`
	End         *string        `json:"end"`
	Error       *string        `json:"error"`
	Interrupted bool           `json:"interrupted"`
	Model       *string        `json:"model"`
	Tokens      tokens         `json:"tokens"`
	CostUSD     *float64       `json:"cost_usd"`
	TTFTMS      *float64       `json:"ttft_ms"`
	WaitingMS   *float64       `json:"waiting_ms"`
	Tags        []string       `json:"tags"`
	Tool        *tool          `json:"tool"`
	HasInputs   bool           `json:"has_inputs"`
	HasOutputs  bool           `json:"has_outputs"`
	Bytes       int64          `json:"bytes"`
	Metadata    map[string]any `json:"metadata"`
}

type tool struct {
	Name string `json:"name"`
}

// Bounds of a run in a trace; the run itself has more.
const (
	maxRunError    = 4 << 10 // bytes
	maxRunName     = 200     // bytes
	maxRunMetadata = 1 << 10 // bytes of a text
)

func runOf(h store.Head) run {
	text := func(key string) *string {
		s, _ := h.Meta[key].(string)
		return known(cut(s, maxRunName))
	}
	out := run{
		ID: h.ID, ParentID: known(h.ParentRunID), Name: cut(h.Name, maxRunName), RunType: cut(h.RunType, maxRunName), Kind: string(h.Kind()),
		Start: moment(h.Start), End: moment(h.End), Error: known(cut(h.Error, maxRunError)),
		Interrupted: h.Meta["ls_is_error_interrupt"] == true, Model: text("ls_model_name"),
		Tokens: tokensOf(h.Tokens), CostUSD: h.Dollars, TTFTMS: span(h.Start, h.FirstToken), WaitingMS: length(h.Waiting),
		Tags: list(h.Tags), HasInputs: h.HasInputs, HasOutputs: h.HasOutputs, Bytes: h.Bytes,
		Metadata: map[string]any{},
	}
	if name := text("ls_tool_name"); name != nil && h.RunType == "tool" {
		out.Tool = &tool{*name}
	}
	short := shortener{text: maxRunMetadata, all: 8 * maxRunMetadata}
	if m, ok := short.value(h.Meta).(map[string]any); ok && len(h.Meta) > 0 {
		out.Metadata = m
	}
	return out
}

// id reads the id of a trace or a run in one spelling.
func id(text string) (string, error) {
	if len(text) != 36 {
		return "", store.ErrNotFound
	}
	u, err := uuid.Parse(text)
	if err != nil {
		return "", store.ErrNotFound
	}
	return u.String(), nil
}

func (h *Handler) trace(r *http.Request) (any, error) {
	trace, err := id(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	summary, err := h.cfg.Store.Summary(r.Context(), trace)
	if err != nil {
		return nil, err
	}
	heads, err := h.cfg.Store.Heads(r.Context(), trace)
	if err != nil {
		return nil, err
	}
	within, err := h.cfg.Store.Thread(r.Context(), summary.Thread)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{
		"turn": turnOf(summary), "thread": threadOf(within), "runs": each(heads, runOf), "langsmith_url": nil,
	}
	if h.cfg.Open != nil && h.cfg.Elsewhere != nil && h.cfg.Elsewhere(trace) {
		answer["langsmith_url"] = "/api/traces/" + trace + "/langsmith" // asks for the address when somebody goes there
	}
	return answer, nil
}

// elsewhere leads to the trace's page in LangSmith.
func (h *Handler) elsewhere(w http.ResponseWriter, r *http.Request) error {
	trace, err := id(r.PathValue("id"))
	if err != nil {
		return err
	}
	if h.cfg.Open == nil {
		return store.ErrNotFound
	}
	page, err := h.cfg.Open(r.Context(), trace)
	if err != nil {
		refuse(w, http.StatusBadGateway, err.Error())
		return nil
	}
	if !webAddress.MatchString(page) {
		refuse(w, http.StatusBadGateway, "LangSmith gave no address of a page")
		return nil
	}
	w.Header().Set("Location", page)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// webAddress is what a browser may be sent to.
var webAddress = regexp.MustCompile(`^https?://[^\s/]+/`)

// wire finds the run that a question names.
func (h *Handler) wire(r *http.Request) (w runtypes.Wire, err error) {
	run, err := id(r.PathValue("id"))
	if err != nil {
		return w, err
	}
	trace, err := id(r.URL.Query().Get("trace"))
	if err != nil {
		return w, &badRequest{"trace is the id of the run's trace"}
	}
	return h.cfg.Store.Run(r.Context(), trace, run)
}

// run is a whole run, its long texts cut.
func (h *Handler) run(r *http.Request) (any, error) {
	wire, err := h.wire(r)
	if err != nil {
		return nil, err
	}
	v, err := whole(wire)
	if err != nil {
		return nil, err
	}
	short := shortener{text: maxText, all: maxRun}
	return short.value(v), nil
}

// whole is a run as a decoded JSON object. Its long parts are not written out for that.
func whole(w runtypes.Wire) (any, error) {
	head := w
	head.Inputs, head.Outputs, head.Events, head.Extra = nil, nil, nil, nil
	v, err := decoded(head)
	run, ok := v.(map[string]any)
	if err != nil || !ok {
		return nil, err
	}
	for key, raw := range map[string]json.RawMessage{"inputs": w.Inputs, "outputs": w.Outputs, "events": w.Events, "extra": w.Extra} {
		if len(raw) == 0 {
			continue
		}
		if run[key], err = decode(raw); err != nil {
			return nil, err
		}
	}
	return run, nil
}

// raw is a run as it is stored, as a file. Its JSON is escaped, so that it is text
// wherever it is opened.
func (h *Handler) raw(w http.ResponseWriter, r *http.Request) error {
	wire, err := h.wire(r)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(wire, "", "  ")
	if err != nil {
		return err
	}
	attach(w, "run-"+wire.ID+".json.txt", "text/plain; charset=utf-8", string(text))
	return nil
}
