package runtypes

import (
	"strings"

	"github.com/tracesmith/tracesmith/internal/version"
)

// SchemaVersion is the value of ls_trace_schema_version.
const SchemaVersion = "coding-agent-v1"

// Version is Tracesmith's own version, stamped as ls_integration_version.
func Version() string { return version.Version }

// Identity is what every run of a turn says about itself. LangSmith does not
// hand a parent's metadata down, so it is stamped on each run. The zero value of
// a field means that it is not known, and the key is left out.
type Identity struct {
	Integration    string // ls_integration: claude-code, or a name of your own
	Runtime        string // human-readable runtime: Claude Code
	RuntimeVersion string // 2.1.332, without a v

	ThreadID   string // the conversation
	TurnID     string // native id of the turn
	TurnNumber int    // 1-based, counts on across resumes; 0: not known

	Repo             Repo
	WorkingDirectory string // absolute path

	ApprovalPolicy string // native permission mode; on root and interrupted runs only
	SandboxType    string // native sandbox
	UserID         string // a stable pseudonym
	Attribution    string // git user.name, only when asked for
	Level          Level  // how much was left out: capture_level, and ls_tracing_mode = metadata
}

// Repo is the repository being edited, at the moment the turn began.
type Repo struct {
	URL    string // remote, without credentials
	Branch string
	SHA    string // 40 or 64 hex digits
}

// AgentRuntime is the value of ls_agent_runtime: the runtime's name and version,
// or the name alone.
func (id Identity) AgentRuntime() string {
	return strings.TrimSpace(id.Runtime + " " + id.RuntimeVersion)
}

// stamp adds the identity block of a run of the given kind.
func (id Identity) stamp(m *members, kind Kind, agent AgentType) {
	if agent == "" {
		agent = AgentRoot
	}
	if kind == KindRoot || kind == KindInterrupted {
		m.set("approval_policy", id.ApprovalPolicy)
	}
	m.set("capture_level", string(id.Level))
	m.set("cwd", id.WorkingDirectory)
	m.set("git_branch", id.Repo.Branch)
	m.set("git_commit_sha", id.Repo.SHA)
	m.set("git_repo_url", id.Repo.URL)
	m.set("ls_agent_purpose", "coding")
	m.set("ls_agent_runtime", id.AgentRuntime())
	m.set("ls_agent_runtime_version", id.RuntimeVersion)
	m.set("ls_agent_type", string(agent))
	m.set("ls_agent_version", id.RuntimeVersion)
	m.set("ls_attribution_identifier", id.Attribution)
	m.set("ls_integration", id.Integration)
	m.set("ls_integration_version", version.Version)
	m.set("ls_trace_schema_version", SchemaVersion)
	if id.Level == LevelMetadata {
		m.set("ls_tracing_mode", "metadata")
	}
	web, provider, name := id.Repo.Web()
	m.set("repository_name", name)
	m.set("repository_provider", provider)
	m.set("repository_url", web)
	m.set("sandbox_type", id.SandboxType)
	m.set("thread_id", id.ThreadID)
	m.set("turn_id", id.TurnID)
	if id.TurnNumber > 0 {
		m.count("turn_number", int64(id.TurnNumber))
	}
	m.set("user_id", id.UserID)
	m.set("working_directory", id.WorkingDirectory)
}

// Web gives the repository's https address, its provider (github, gitlab,
// bitbucket, other) and its name (owner/name), all empty when the URL is.
func (r Repo) Web() (url, provider, name string) {
	host, path := splitRemote(r.URL)
	if host == "" || path == "" {
		return "", "", ""
	}
	bare := host
	if i := strings.LastIndexByte(bare, ':'); i >= 0 && !strings.HasSuffix(bare, "]") {
		bare = bare[:i]
	}
	switch {
	case bare == "github.com" || strings.HasPrefix(bare, "github."):
		provider = "github"
	case bare == "gitlab.com" || strings.HasPrefix(bare, "gitlab."):
		provider = "gitlab"
	case bare == "bitbucket.org" || strings.HasPrefix(bare, "bitbucket."):
		provider = "bitbucket"
	default:
		provider = "other"
	}
	return "https://" + host + "/" + path, provider, path
}

// splitRemote takes an https, ssh, git or scp-like remote apart. A port is kept
// for http and https only: it is the port of another service otherwise.
func splitRemote(remote string) (host, path string) {
	scheme, rest, hasScheme := strings.Cut(remote, "://")
	if !hasScheme {
		rest = remote
		i := strings.IndexByte(rest, ':')
		if i < 0 || strings.ContainsAny(rest[:i], "/\\") {
			return "", "" // a local path
		}
		host, path = rest[:i], rest[i+1:]
	} else {
		host, path, _ = strings.Cut(rest, "/")
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if hasScheme && scheme != "http" && scheme != "https" {
		if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
			host = host[:i]
		}
	}
	path = strings.Trim(path, "/")
	path = strings.TrimSuffix(path, ".git")
	return strings.ToLower(host), path
}
