package runtypes

import "testing"

func TestNothingSaidIsAnEmptyList(t *testing.T) {
	var parts []Part
	for _, tt := range []struct{ got, want string }{
		{string(Messages()), `{"messages":[]}`},
		{string(Messages(Message{Role: "assistant", Content: parts})), `{"messages":[{"role":"assistant","content":[]}]}`},
		{string(Messages(Message{Role: "assistant"})), `{"messages":[{"role":"assistant"}]}`},
	} {
		if tt.got != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
}
