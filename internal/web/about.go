package web

import "net/http"

// destination is a place that turns go to.
type destination struct {
	Address string  `json:"address"`
	Project *string `json:"project"`
	Content *string `json:"content"`
	Bare    bool    `json:"unredacted"`
	Last    *string `json:"last"`
}

// about is where turns go besides the store: nothing that is shown here leaves the
// machine, but what is recorded may. null is not known.
func (h *Handler) about(*http.Request) (any, error) {
	var places []destination
	if h.cfg.Destinations == nil {
		return map[string]any{"destinations": places}, nil
	}
	if list := h.cfg.Destinations(); list != nil {
		places = each(list, func(d Destination) destination {
			return destination{d.Address, known(d.Project), known(d.Content), d.Bare, moment(d.Last)}
		})
	}
	return map[string]any{"destinations": places}, nil
}
