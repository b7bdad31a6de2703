package web

import "net/http"

// destination is a place that turns go to.
type destination struct {
	Address string  `json:"address"`
	Project *string `json:"project"`
	Content *string `json:"content"`
	Last    *string `json:"last"`
}

// about is where turns go besides the store: nothing that is shown here leaves the
// machine, but what is recorded may. null is not known.
func (h *Handler) about(*http.Request) (any, error) {
	var places []destination
	if h.cfg.Destinations != nil {
		places = each(h.cfg.Destinations(), func(d Destination) destination {
			return destination{d.Address, known(d.Project), known(d.Content), moment(d.Last)}
		})
	}
	return map[string]any{"destinations": places}, nil
}
