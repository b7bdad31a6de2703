package exporter

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"time"
)

// deliver brings items to the server in one request, or in as many as its
// refusals make necessary. When it returns nil every item is settled: delivered
// or dropped. Otherwise those that are not may be sent again.
func (c *Client) deliver(ctx context.Context, items []*item) error {
	for len(items) > 0 {
		if err := c.deliverOnce(ctx, items); err != nil {
			return err
		}
		items = slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return it.done })
	}
	return nil
}

// deliverOnce is deliver, but leaves posts that turned out to be known as the patches
// that they have become.
func (c *Client) deliverOnce(ctx context.Context, items []*item) error {
	return c.deliverUntil(ctx, items, c.now().Add(c.cfg.MaxElapsed))
}

// deliverUntil is deliverOnce with the time at which to give up an outage.
func (c *Client) deliverUntil(ctx context.Context, items []*item, until time.Time) error {
	for _, it := range items {
		it.adopt(&c.orphan) // the post may have been dropped since: both were in one request
	}
	again := func(part []*item) error { return c.deliverUntil(ctx, part, until) }
	if c.tooSlow(items) {
		return c.each(halves(items), again)
	}
	refused, err := c.send(ctx, items, until)
	if err == nil && refused > 0 {
		c.partly(items, refused)
		return nil
	}
	if err == nil {
		c.delivered(items)
		return nil
	}
	var slow *slowError
	var temporary *TemporaryError
	var status *StatusError
	switch {
	case errors.As(err, &slow):
		return c.each(halves(items), again)
	case errors.As(err, &temporary) || !errors.As(err, &status):
		return err
	}
	switch status.Status {
	case http.StatusConflict:
		return c.resolveConflict(ctx, items)
	case http.StatusRequestEntityTooLarge:
		return c.resolveSize(ctx, items, status)
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return c.isolate(ctx, items, status)
	}
	return err
}

// send posts items, changing endpoint and coding to what the server takes. refused is
// how many of them it did not take although it accepted the request.
func (c *Client) send(ctx context.Context, items []*item, until time.Time) (refused int, err error) {
	for {
		req, err := c.newRequest(items)
		if err != nil {
			return 0, err
		}
		req.divisible = len(items) > 1
		err = c.sendWithRetry(ctx, req, until)
		if err == nil && req.path == pathBatch {
			for _, it := range items {
				c.stats.detached(len(it.wire.files))
			}
		}
		if !c.adapt(req, err) {
			return req.refused, err
		}
	}
}

// adapt learns from a refusal of the form of a request, and reports whether the
// same items in another form are worth a try.
func (c *Client) adapt(req *request, err error) bool {
	var refused *StatusError
	if !errors.As(err, &refused) {
		return false
	}
	switch {
	case refused.Status == http.StatusNotFound && req.path == pathMultipart:
		c.server.refuseMultipart(true)
		c.cfg.Logger.Info("no multipart endpoint: using the older one")
		return true
	case refused.Status == http.StatusNotFound && req.path == pathBatch:
		// Neither is there: the endpoint is wrong or its server is being replaced,
		// and nothing has been learned.
		c.server.refuseMultipart(false)
		return false
	case refused.Status == http.StatusUnsupportedMediaType && req.coding != codingNone:
		c.server.refuseCoding(req.coding)
		c.cfg.Logger.Info("compression refused", "coding", req.coding)
		return true
	}
	return false
}

// resolveConflict handles a 409, "already received". About a request of several
// items it says that one of them was, and nothing about the others, so each is
// sent alone. A post that carries its run's end may have met one without it, sent
// before a crash or taken for lost: then the end is still missing, and goes as a
// patch. Only what a 409 says of a single write is certain.
func (c *Client) resolveConflict(ctx context.Context, items []*item) error {
	if len(items) > 1 {
		return c.each(slices.Chunk(items, 1), func(one []*item) error { return c.deliverOnce(ctx, one) })
	}
	c.orphan.forget(items[0].id())
	if it := items[0]; c.cfg.Dialect == nil && it.more() {
		c.stats.delivered(it.asPatch())
		return nil // deliver sends it, with the others of its request
	}
	c.delivered(items)
	return nil
}

// isolate splits a request that was refused as malformed until the item that
// spoils it is alone, and drops that one.
func (c *Client) isolate(ctx context.Context, items []*item, why *StatusError) error {
	if len(items) > 1 {
		return c.each(halves(items), func(half []*item) error { return c.deliverOnce(ctx, half) })
	}
	c.dropItem(items[0], &DropError{Reason: ReasonRejected, Err: why})
	return nil
}

// resolveSize halves a request that was refused for its size, and shortens a run
// that is too large alone.
func (c *Client) resolveSize(ctx context.Context, items []*item, why *StatusError) error {
	if len(items) > 1 {
		size := 0
		for _, it := range items {
			size += it.wire.size()
		}
		c.server.refuseSize(size)
		return c.each(halves(items), func(half []*item) error { return c.deliverOnce(ctx, half) })
	}
	it := items[0]
	if !c.shorten(it, it.wire.size()/2) {
		c.dropItem(it, &DropError{Reason: ReasonTooLarge, Err: why})
		return nil
	}
	return c.deliverOnce(ctx, items)
}

// tooSlow reports whether a request of several items has become too large since it
// was filled: others took too long meanwhile.
func (c *Client) tooSlow(items []*item) bool {
	limit := c.server.slowLimit()
	if limit == 0 || len(items) < 2 {
		return false
	}
	size := 0
	for _, it := range items {
		size += it.wire.size()
	}
	return size > limit+limit/8 // a half is rarely just that
}

func halves(items []*item) iter.Seq[[]*item] { return slices.Chunk(items, (len(items)+1)/2) }

// each delivers groups of items one after the other, so that order holds.
func (c *Client) each(groups iter.Seq[[]*item], deliver func([]*item) error) error {
	for group := range groups {
		if err := deliver(group); err != nil {
			return err
		}
	}
	return nil
}
