// Package aguitrace records AG-UI streams where they pass: in a server, in a client, in
// a proxy between the two, and in an agent that makes events itself.
//
//	http.Handle("/agent", aguitrace.Handler(agent, sink))                 // a server
//	client := &http.Client{Transport: aguitrace.Transport(nil, sink)}     // a client
//
// A program that ends makes a [Tracer] of its own and waits for it, so that what
// has just passed is recorded too:
//
//	tracer := aguitrace.New(sink, aguitrace.Options{})
//	http.Handle("/agent", tracer.Handler(agent))
//	…
//	tracer.Wait(ctx)
//
// What passes is never changed, delayed or broken: a copy goes through a bounded queue to
// a goroutine that folds it into runs. Where the queue is full the rest of the stream is
// not recorded, and its run says so. Only POST requests that are answered with one of
// AG-UI's media types are looked at. Headers are never recorded.
package aguitrace
