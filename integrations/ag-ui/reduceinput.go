package agui

// DecodeInput reads what a client posted; nil if that is no RunAgentInput: an object that
// names a run.
func DecodeInput(raw []byte) *RunAgentInput {
	tidied, err := tidy(raw)
	if err != nil || kindOf(tidied) != objectKind {
		return nil
	}
	in := &RunAgentInput{}
	readObject(&reader{}, inputProps(), tidied, in)
	if in.RunID == nil || in.ThreadID == nil {
		return nil
	}
	return in
}
