package copilot

import "cmp"

// place says where and under which settings a turn happens, as far as the log says.
type place struct {
	Version string `json:"version,omitempty"`
	CWD     string `json:"cwd,omitempty"`
	URL     string `json:"url,omitempty"`
	Branch  string `json:"branch,omitempty"`
	SHA     string `json:"sha,omitempty"`
	Model   string `json:"model,omitempty"`
	Effort  string `json:"effort,omitempty"`
	Mode    string `json:"mode,omitempty"` // of permissions
}

// take notes what a line of the root's says of the place; false if it says nothing.
func (p *place) take(r *record) bool {
	switch d := r.data.(type) {
	case *opening:
		p.Version = cmp.Or(d.Version, p.Version)
		p.Model, p.Effort = cmp.Or(d.Model, p.Model), cmp.Or(d.Effort, p.Effort)
		if d.Context != nil {
			p.move(d.Context)
		}
	case *context:
		p.move(d)
	case *modelChange:
		p.Model, p.Effort = d.Model, d.Effort
	case *permissions:
		p.Mode = cmp.Or(d.AllowAll, d.Mode)
	default:
		return false
	}
	return true
}

func (p *place) move(c *context) {
	p.CWD = cmp.Or(c.CWD, p.CWD)
	p.Branch, p.SHA, p.URL = c.Branch, c.SHA, ""
	if c.Host != "" && c.Repo != "" {
		p.URL = "https://" + c.Host + "/" + c.Repo
	}
}
