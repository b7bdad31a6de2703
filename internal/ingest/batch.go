package ingest

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// batch is what one request asks for.
type batch struct {
	posts, patches []runtypes.Wire
	dropped        map[string]int // parts and fields the server does not keep, by name
	lenient        bool           // see Decode
	refused        []Refused      // with lenient, what would have the whole request refused
}

func newBatch() *batch { return &batch{dropped: map[string]int{}} }

func newLenient() *batch { return &batch{dropped: map[string]int{}, lenient: true} }

func (b *batch) len() int { return len(b.posts) + len(b.patches) }

// add checks one operation and takes it up.
func (b *batch) add(verb runtypes.Verb, run object) error {
	b.forgive(run)
	w, err := run.wire(verb)
	if err == nil {
		err = checkOrder(verb, &w, b.lenient)
	}
	if err != nil {
		return b.refuse(verb, run, err)
	}
	if verb == runtypes.Post {
		b.posts = append(b.posts, w)
	} else {
		b.patches = append(b.patches, w)
	}
	for _, key := range []string{"serialized", "reference_example_id", "session_id"} {
		if _, ok := run[key]; ok {
			b.dropped[key]++
		}
	}
	return nil
}

// forgive takes the nulls out of a run, where they count as absent.
func (b *batch) forgive(run object) {
	if b.lenient {
		maps.DeleteFunc(run, func(_ string, raw json.RawMessage) bool { return string(raw) == "null" })
	}
}

// refuse has the request refused for one of its operations, or the operation alone.
func (b *batch) refuse(verb runtypes.Verb, run object, err error) error {
	if !b.lenient {
		return err
	}
	b.refused = append(b.refused, Refused{Verb: verb, Run: run.rough(), Err: err})
	return nil
}

// unique refuses a request that writes the same run twice with the same verb.
func (b *batch) unique() error {
	if b.lenient {
		return nil
	}
	for _, writes := range [][]runtypes.Wire{b.posts, b.patches} {
		seen := make(map[string]bool, len(writes))
		for i := range writes {
			if id := writes[i].ID; seen[id] {
				return invalid("run %s is written twice in one request", id)
			} else {
				seen[id] = true
			}
		}
	}
	return nil
}

// decodeBatch reads the body of POST /runs/batch.
func decodeBatch(body []byte) (*batch, error) { return batchInto(newBatch(), body) }

func batchInto(b *batch, body []byte) (*batch, error) {
	body, err := b.readJSON("body", body)
	if err != nil {
		return nil, err
	}
	var lists struct {
		Post  []json.RawMessage `json:"post"`
		Patch []json.RawMessage `json:"patch"`
	}
	if err := json.Unmarshal(body, &lists); err != nil {
		return nil, invalid("body must be an object with the lists post and patch")
	}
	for _, list := range []struct {
		verb runtypes.Verb
		runs []json.RawMessage
	}{{runtypes.Post, lists.Post}, {runtypes.Patch, lists.Patch}} {
		for i, raw := range list.runs {
			run, err := parseObject(raw)
			if err != nil {
				err = b.refuse(list.verb, nil, invalid("%s.%d must be an object", list.verb, i))
			} else {
				err = b.add(list.verb, run)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return b, b.unique()
}

// decodePost reads the body of POST /runs: one run. A root may leave trace_id
// and dotted_order out, which follow from its id and start.
func decodePost(body []byte) (*batch, error) { return postInto(newBatch(), body) }

func postInto(b *batch, body []byte) (*batch, error) {
	run, err := b.parseBody(body)
	if err != nil {
		return nil, err
	}
	b.forgive(run)
	run.complete()
	return b, b.add(runtypes.Post, run)
}

// decodePatch reads the body of PATCH /runs/{id}: one run, its id in the path.
func decodePatch(body []byte, id string) (*batch, error) { return patchInto(newBatch(), body, id) }

func patchInto(b *batch, body []byte, id string) (*batch, error) {
	if !isUUID(id) {
		return nil, invalid("%.40q is not a run id", id)
	}
	run, err := b.parseBody(body)
	if err != nil {
		return nil, err
	}
	if own, err := run.text("id"); err != nil || own != "" && !strings.EqualFold(own, id) {
		return nil, invalid("id does not match the path")
	}
	run.put("id", id)
	return b, b.add(runtypes.Patch, run)
}

func (b *batch) parseBody(body []byte) (object, error) {
	body, err := b.readJSON("body", body)
	if err != nil {
		return nil, err
	}
	run, err := parseObject(body)
	if err != nil {
		return nil, invalid("body must be an object")
	}
	return run, nil
}

// complete fills in what the single-run endpoint works out by itself. Whatever
// is wrong with the run is left for wire to find.
func (o object) complete() {
	_, hasTrace := o["trace_id"]
	_, hasOrder := o["dotted_order"]
	_, hasParent := o["parent_run_id"]
	if hasTrace || hasOrder || hasParent {
		return
	}
	id, err := o.text("id")
	if err != nil || !isUUID(id) {
		return
	}
	start, err := parseTime(o["start_time"])
	if err != nil {
		return
	}
	o.put("trace_id", id)
	o.put("dotted_order", idgen.Segment(start, uuid.MustParse(id)))
}

// put sets a string that needs no escaping.
func (o object) put(key, plain string) { o[key] = json.RawMessage(`"` + plain + `"`) }
