package agui

import (
	"fmt"
	"slices"
	"testing"
)

func TestChunksEndWithTheLastOfThemAndNotWithWhatComesNext(t *testing.T) {
	const at = 1767225600000
	event := func(ms int64, rest string) string { return fmt.Sprintf(`{'timestamp':%d,%s}`, at+ms, rest) }
	runs := reduced(t, stream(
		event(0, `'type':'RUN_STARTED','threadId':'t','runId':'r'`),
		event(1000, `'type':'TOOL_CALL_CHUNK','toolCallId':'tc','toolCallName':'bash','parentMessageId':'m','delta':'{'`),
		event(2000, `'type':'TOOL_CALL_CHUNK','delta':'}'`),
		event(60_000, `'type':'TOOL_CALL_RESULT','messageId':'t1','toolCallId':'tc','content':'ok'`),
		event(61_000, `'type':'TEXT_MESSAGE_CHUNK','messageId':'m2','delta':'do'`),
		event(62_000, `'type':'TEXT_MESSAGE_CHUNK','delta':'ne'`),
		event(90_000, `'type':'RUN_FINISHED','threadId':'t','runId':'r'`)), RunOptions{})
	var got []int64
	for _, run := range runs {
		got = append(got, run.End.UnixMilli()-at)
	}
	if want := []int64{90_000, 2000, 60_000, 62_000}; !slices.Equal(got, want) {
		t.Errorf("root, model, tool and model end at %v ms, want %v", got, want)
	}
}
