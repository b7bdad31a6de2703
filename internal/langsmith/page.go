package langsmith

import (
	"net/url"
	"strings"
)

// regions are the APIs of LangSmith's own deployments, and what they call themselves.
var regions = map[string]string{
	"api.smith.langchain.com":      "US",
	"eu.api.smith.langchain.com":   "EU",
	"apac.api.smith.langchain.com": "APAC",
	"aws.api.smith.langchain.com":  "US on AWS",
}

// Region is the name of one of LangSmith's own deployments; empty for any other
// endpoint.
func Region(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return regions[u.Host]
}

// Elsewhere lists the endpoints of LangSmith's other deployments by their names, none
// for an endpoint that is not LangSmith's own. A key is known to one of them.
func Elsewhere(endpoint string) map[string]string {
	if Region(endpoint) == "" {
		return nil
	}
	others := map[string]string{}
	for host, name := range regions {
		if !strings.HasPrefix(endpoint, "https://"+host) {
			others[name] = "https://" + host
		}
	}
	return others
}

// Host is where the pages of an API are: the same host, less the "api" in its name
// or its path.
func Host(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return ""
	}
	if Region(endpoint) != "" {
		u.Host = strings.Replace(u.Host, "api.", "", 1)
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1"), "/api")
	return u.Scheme + "://" + u.Host + u.Path
}

// Page is the address of a run's page on the host of the pages; empty if LangSmith did
// not say where it is.
func (r Run) Page(endpoint string) string {
	host := Host(endpoint)
	switch {
	case host == "":
		return ""
	case strings.HasPrefix(r.AppPath, "/") && !strings.HasPrefix(r.AppPath, "//"):
		return host + r.AppPath
	case r.Tenant != "" && r.Project != "":
		return host + "/o/" + url.PathEscape(r.Tenant) + "/projects/p/" + url.PathEscape(r.Project) + "/r/" + url.PathEscape(r.ID)
	}
	return ""
}
