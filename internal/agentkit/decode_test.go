package agentkit_test

import (
	"testing"

	"github.com/tracesmith/tracesmith/internal/agentkit"
)

func TestAMemberOfAnotherShapeCostsNoOther(t *testing.T) {
	var v struct {
		Before, After string
		Number        int
	}
	if err := agentkit.Decode([]byte(`{"before":"a","number":{"n":1},"after":"b"}`), &v); err != nil {
		t.Fatal(err)
	}
	if v.Before != "a" || v.After != "b" || v.Number != 0 {
		t.Errorf("%+v", v)
	}
	if err := agentkit.Decode([]byte(`{"before":`), &v); err == nil {
		t.Error("half a document passed")
	}
}
