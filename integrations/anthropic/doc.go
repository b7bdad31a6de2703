// Package anthropic records calls of Anthropic's Messages API as model calls of
// the turn in the request's context: model, parameters, messages, tools, answer,
// tokens with their cache and reasoning details, errors, and the time to the first
// token. It needs no SDK and works under any of them:
//
//	client := anthropic.NewClient(option.WithMiddleware(traced.Middleware)) // anthropic-sdk-go
//	client := &http.Client{Transport: &traced.Transport{}}                  // by hand
//
// A call whose context carries no turn (see runtypes.NewContext) passes through,
// as does every request that is no call of the Messages API. An SDK's retries are
// calls of their own. Streams end where the API says so, at the client's Close, or
// with the context; a call that was cut keeps what had come. Bodies of more than
// 32 MiB are passed on and not recorded.
//
// The shapes are those of https://docs.anthropic.com/en/api/messages.
package anthropic
