package agui

// activitySnapshot sets an activity's content and merges its metadata. An activity that
// is not to be replaced keeps its content and merges all the same; a message that is none
// stays as it is.
func (a *Assembler) activitySnapshot(e *Event) {
	i := a.byID[Text(e.MessageID)]
	if i == nil {
		role := string(Activity)
		a.append(&item{Message: Message{ID: e.MessageID, Role: &role, Content: e.Content, ActivityType: e.ActivityType,
			SubagentRunID: e.SubagentRunID, Metadata: MergeMetadata(nil, e.Metadata)}, start: e.Timestamp, end: e.Timestamp})
		return
	}
	if i.role() != Activity {
		a.report(ActivityUnknownID)
		return
	}
	if e.Content != nil && (e.Replace == nil || *e.Replace) {
		i.Content, i.text, i.ActivityType = e.Content, nil, e.ActivityType
	}
	i.Metadata = MergeMetadata(i.Metadata, e.Metadata)
}

// activityDelta patches an activity's content. Metadata merges even where the patch does
// not fit; of an activity that is not known nothing is made, and what is none stays as
// it is.
func (a *Assembler) activityDelta(e *Event) {
	i := a.byID[Text(e.MessageID)]
	if i == nil || i.role() != Activity {
		a.report(ActivityUnknownID)
		return
	}
	if patched, err := applyPatch(i.content(), e.Patch); err == nil {
		i.Content, i.text = patched, nil
	}
	i.Metadata = MergeMetadata(i.Metadata, e.Metadata)
}
