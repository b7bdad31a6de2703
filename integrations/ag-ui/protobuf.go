package agui

// DecodeProtobuf reads one ag_ui.Event, as DecodeJSON does one of JSON.
func DecodeProtobuf(raw []byte) (*Event, []Problem) {
	return nil, []Problem{{Code: BadFrame}}
}
