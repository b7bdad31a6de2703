// Package openai records calls of OpenAI's Chat Completions and Responses APIs as
// model calls of the turn in the request's context: model, parameters, messages,
// tools, answer, tokens with their cache and reasoning details, errors, and the
// time to the first token. It needs no SDK and works under any of them:
//
//	client := openai.NewClient(option.WithMiddleware(traced.Middleware)) // openai-go
//	client := &http.Client{Transport: &traced.Transport{}}               // by hand
//
// Other servers speak these APIs too: name yours in Transport.Provider.
//
// A call whose context carries no turn (see runtypes.NewContext) passes through,
// as does every request that is neither API's. An SDK's retries are calls of their
// own. A streamed chat tells its tokens only if stream_options.include_usage is
// set: the request is yours, nothing is added to it. Streams end where the API
// says so, at the client's Close, or with the context; a call that was cut keeps
// what had come. Bodies of more than 32 MiB are passed on and not recorded.
//
// The shapes are those of https://platform.openai.com/docs/api-reference.
package openai
