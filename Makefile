# Everything here is plain Go; `make ci` runs what a change must pass.

GO       ?= go
FUZZTIME ?= 20s
ROUNDS   ?= 200

GOLANGCI_LINT := v2.12.0
GOVULNCHECK   := v1.1.4
GORELEASER    := v2.17.0
CYCLONEDX     := v1.10.0

PKG     := github.com/tracesmith/tracesmith
VERSION := $(shell git describe --tags --dirty 2>/dev/null | sed 's/^v//')
LDFLAGS := -s -w $(if $(VERSION),-X $(PKG)/internal/version.Version=$(VERSION))

# Tools are built once, from the module proxy, into a folder of their own, so
# that they never enter go.mod.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tracesmith
TOOLS := $(CACHE)/tools
LINT  := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT)
MAKER := $(TOOLS)/goreleaser-$(GORELEASER)
SBOM  := $(TOOLS)/cyclonedx-gomod-$(CYCLONEDX)/cyclonedx-gomod

.PHONY: help
help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

.PHONY: build
build: ## build ./tracesmith, static and stripped
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o tracesmith ./cmd/tracesmith

.PHONY: test
test: ## the tests
	$(GO) test ./...

.PHONY: race
race: ## the tests under the race detector (needs a C compiler)
	$(GO) test -race ./...

.PHONY: lint
lint: $(LINT) ## golangci-lint, with the import arrows
	$(LINT) run ./...

$(LINT):
	GOBIN=$(TOOLS)/build $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)
	mv $(TOOLS)/build/golangci-lint $@

# goreleaser finds the program that lists what is linked by its name, and knows neither
# commit nor time of a repository that has no remote.
RELEASE = $(if $(shell git remote),,GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://$(PKG)) \
	PATH="$(dir $(SBOM)):$$PATH" GOFLAGS= $(MAKER)

.PHONY: release-check
release-check: $(MAKER) ## is .goreleaser.yaml sound?
	$(MAKER) check

.PHONY: release-snapshot
release-snapshot: release-check $(SBOM) ## all files of a release, into dist, and the tests that install from there
	@docker info >/dev/null 2>&1 || echo '!!! SKIPPED: the container image: no docker daemon'
	$(RELEASE) release --snapshot --clean $$(docker info >/dev/null 2>&1 || echo --skip=docker)
	$(GO) test -tags release -count 1 -run Snapshot -v ./packaging

.PHONY: release-twice
release-twice: release-snapshot ## does a second build give the same bytes?
	cp dist/checksums.txt $(CACHE)/checksums-before.txt
	$(RELEASE) release --snapshot --clean --skip=docker
	cmp $(CACHE)/checksums-before.txt dist/checksums.txt

.PHONY: release
release: release-check $(SBOM) ## release the tag that is checked out, as a draft (needs GITHUB_TOKEN)
	$(RELEASE) release --clean

$(MAKER):
	GOBIN=$(TOOLS)/build $(GO) install github.com/goreleaser/goreleaser/v2@$(GORELEASER)
	mv $(TOOLS)/build/goreleaser $@

$(SBOM):
	GOBIN=$(dir $@) $(GO) install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(CYCLONEDX)

.PHONY: vet
vet: ## go vet for every system a release is built for
	GOOS=linux $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	$(GO) vet -tags e2e ./e2e

.PHONY: tidy
tidy: ## is go.mod what the code imports?
	$(GO) mod tidy -diff

.PHONY: vuln
vuln: ## known vulnerabilities (downloads their database)
	$(GO) run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK) ./...

.PHONY: bench
bench: ## how long a hook takes, the exporter beside LangSmith's clients, the packages' own benchmarks, the page in a browser
	$(GO) run ./internal/hookbench
	cd bench && $(GO) run ./compare
	$(GO) test -run '^$$' -bench . -benchmem ./...
	cd e2e/browser && $(GO) test -run '^$$' -bench . -benchtime 5x

.PHONY: sim
sim: ## a day of 10,000 machines that share LangSmith's limits
	$(GO) run ./internal/sim

.PHONY: cost
cost: ## what 1,000 turns cost at LangSmith, by content, inputs and live
	$(GO) run ./internal/cost

.PHONY: bench-redact
bench-redact: ## how much redaction finds, how much it finds in vain, how fast
	$(GO) run ./internal/redactbench

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME each
	@set -e; for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "== $$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg; \
		done; \
	done

.PHONY: crash
crash: ## kill hooks and drainers at random points, ROUNDS times
	TRACESMITH_CRASH_ROUNDS=$(ROUNDS) $(GO) test -count 1 -timeout 60m -run Crash -v ./internal/road

.PHONY: e2e
e2e: ## drive the real agents against a scripted model on loopback, the page in a browser, a collector in between
	$(GO) test -tags e2e -count 1 -parallel 6 -timeout 30m -v ./e2e
	cd e2e/browser && $(GO) test -count 1 -v
	cd examples/otel-collector && $(GO) test -count 1 -v

.PHONY: e2e-managed
e2e-managed: ## hooks in the managed settings of the real agents (Linux, as root: nobody else sees what it writes to /etc)
	unshare --mount sh -ec 'mount -t tmpfs none /mnt && mkdir /mnt/up /mnt/work && \
		mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/up,workdir=/mnt/work /etc && \
		TRACESMITH_E2E_MANAGED=1 $(GO) test -tags e2e -count 1 -timeout 10m -run Managed -v ./e2e'

.PHONY: ci
ci: ## what a change must pass
	.ci/run

.PHONY: clean
clean: ## remove what was built here; the caches stay
	rm -rf tracesmith dist manual e2e/logs
