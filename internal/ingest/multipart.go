package ingest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"slices"
	"strconv"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// The parts of a multipart body that are no run's, as Writes.Dropped names them.
const (
	PartAttachment = "attachment"
	PartFeedback   = "feedback"
	PartUnknown    = "unknown" // a lenient reader's
)

// partFields are the fields of a run that may travel as parts of their own.
var partFields = []string{"inputs", "outputs", "events", "extra", "error", "serialized"}

// form collects the parts of a multipart body into operations.
type form struct {
	batch *batch
	ops   map[string]*operation // by verb and run id
	order []*operation
}

type operation struct {
	name   string // post.<id>
	verb   runtypes.Verb
	id     string
	run    object // nil until the main part has come
	fields object
	wrong  error // of a lenient reader: why it is not taken
}

// decodeMultipart reads the body of POST /runs/multipart.
func decodeMultipart(body []byte, contentType string) (*batch, error) {
	return multipartInto(newBatch(), body, contentType)
}

func multipartInto(b *batch, body []byte, contentType string) (*batch, error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return nil, invalid("Content-Type must be multipart/form-data with a boundary")
	}
	f := &form{batch: b, ops: map[string]*operation{}}
	reader := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for {
		part, err := reader.NextRawPart()
		if err == io.EOF { // a body cut short wraps io.EOF; only the bare one is the closing boundary
			break
		}
		if err != nil {
			return nil, invalid("error reading multipart data: %v", err)
		}
		if err := f.part(part); err != nil {
			return nil, err
		}
	}
	return f.finish()
}

func (f *form) part(part *multipart.Part) error {
	name := part.FormName()
	data, err := io.ReadAll(part)
	if err != nil {
		return invalid("error reading multipart data: %v", err)
	}
	if err := checkPart(part, name, len(data)); err != nil && !f.batch.lenient {
		return err
	}
	verb, rest, _ := strings.Cut(name, ".")
	id, field, hasField := strings.Cut(rest, ".")
	id = strings.ToLower(id)
	writes := verb == string(runtypes.Post) || verb == string(runtypes.Patch)
	switch {
	case f.batch.lenient && (!isUUID(id) || !writes && verb != "attachment" && verb != "feedback"):
		f.batch.dropped[PartUnknown]++
		return nil
	case !isUUID(id):
		return invalid("part %.80q: name must be post.<id>, patch.<id>, attachment.<id>.<name> or feedback.<id>", name)
	case verb == PartAttachment && (f.batch.lenient || field != "" && !strings.Contains(field, ".")):
		f.batch.dropped[PartAttachment]++
		return nil
	case verb == PartFeedback && (f.batch.lenient || !hasField):
		f.batch.dropped[PartFeedback]++
		if f.batch.lenient {
			return nil
		}
		return checkJSON("part "+name, data)
	}
	if !writes {
		return invalid("part %.80q: unknown name", name)
	}
	op := f.op(runtypes.Verb(verb), id)
	err = f.write(op, name, field, hasField, data)
	if err != nil && f.batch.lenient {
		if op.wrong == nil {
			op.wrong = err
		}
		return nil
	}
	return err
}

// write takes a part of an operation.
func (f *form) write(op *operation, name, field string, hasField bool, data []byte) error {
	if hasField && !slices.Contains(partFields, field) {
		return invalid("part %.80q: unknown name", name)
	}
	data, err := f.batch.readJSON("part "+name, data)
	switch {
	case err != nil:
		return err
	case hasField:
		return op.field(field, data)
	}
	return op.main(data)
}

// checkPart wants a type and a length of every part, and no encoding.
func checkPart(part *multipart.Part, name string, size int) error {
	contentType := part.Header.Get("Content-Type")
	if contentType == "" {
		return invalid("part %.80q: Content-Type is required", name)
	}
	if part.Header.Get("Content-Encoding") != "" {
		return invalid("part %.80q: Content-Encoding is not allowed", name)
	}
	length := part.Header.Get("Content-Length")
	if length == "" {
		if _, params, err := mime.ParseMediaType(contentType); err == nil {
			length = params["length"]
		}
	}
	if length == "" {
		return invalid("part %.80q: Content-Length is required", name)
	}
	if n, err := strconv.Atoi(length); err != nil || n != size {
		return invalid("part %.80q: says %.20s bytes and has %d", name, length, size)
	}
	return nil
}

func (f *form) op(verb runtypes.Verb, id string) *operation {
	name := string(verb) + "." + id
	op := f.ops[name]
	if op == nil {
		op = &operation{name: name, verb: verb, id: id, fields: object{}}
		f.ops[name] = op
		f.order = append(f.order, op)
	}
	return op
}

func (op *operation) main(data []byte) error {
	if op.run != nil {
		return invalid("part %q comes twice", op.name)
	}
	run, err := parseObject(data)
	if err != nil {
		return invalid("part %q must be an object", op.name)
	}
	if id, err := run.text("id"); err != nil || !strings.EqualFold(id, op.id) {
		return invalid("part %q: id does not match the part's name", op.name)
	}
	op.run = run
	return nil
}

func (op *operation) field(field string, data []byte) error {
	if _, twice := op.fields[field]; twice {
		return invalid("part %q comes twice", op.name+"."+field)
	}
	op.fields[field] = json.RawMessage(bytes.TrimSpace(data))
	return nil
}

// finish joins each operation's parts and checks the whole.
func (f *form) finish() (*batch, error) {
	for _, op := range f.order {
		err := op.join()
		if err == nil {
			err = f.batch.add(op.verb, op.run)
		} else {
			err = f.batch.refuse(op.verb, op.known(), err)
		}
		if err != nil {
			return nil, err
		}
	}
	return f.batch, nil
}

// patchNulls are the keys that LangSmith's Python client (0.15.1) sends as null in the
// patch of each run that has no value for them, by this route alone.
var patchNulls = []string{"parent_run_id", "session_id"}

// join puts the fields that came as parts into the run.
func (op *operation) join() error {
	switch {
	case op.wrong != nil:
		return op.wrong
	case op.run == nil:
		return invalid("part %q is missing, only its fields are there", op.name)
	}
	for field, data := range op.fields {
		if _, twice := op.run[field]; twice {
			return invalid("part %q: %s is sent both ways", op.name, field)
		}
		op.run[field] = data
	}
	if op.verb == runtypes.Patch {
		maps.DeleteFunc(op.run, func(key string, raw json.RawMessage) bool {
			return string(raw) == "null" && slices.Contains(patchNulls, key)
		})
	}
	return nil
}

// known is what there is of an operation that is not taken: its id at least.
func (op *operation) known() object {
	run := object{}
	maps.Copy(run, op.run)
	run.put("id", op.id)
	if extra, ok := op.fields["extra"]; ok {
		run["extra"] = extra
	}
	return run
}
