#!/bin/sh
# Install Tracesmith for this user, from the files of a release:
#
#   curl -fsSL https://github.com/tracesmith/tracesmith/releases/latest/download/install.sh | sh
#
# What is downloaded must have the checksum that the release publishes. Nothing is
# asked, nothing runs as another user, and an older Tracesmith is replaced at once.
#
#   TRACESMITH_VERSION   the version, such as 1.2.3; default: the newest
#   TRACESMITH_PREFIX    where bin/ and share/ are; default: ~/.local
#   TRACESMITH_BASE_URL  the folder with the files of a release, for a mirror
#
# Needs tar, curl or wget, and sha256sum, shasum or openssl.
set -eu
umask 022

die() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# system prints the system and processor as the names of archives have them.
system() {
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	MINGW* | MSYS* | CYGWIN* | Windows_NT) die 'on Windows install with scoop, or unpack the zip archive of the release' ;;
	*) die "no release is built for $(uname -s): build it with go install github.com/tracesmith/tracesmith/cmd/tracesmith@latest" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) die "no release is built for $(uname -m): build it with go install github.com/tracesmith/tracesmith/cmd/tracesmith@latest" ;;
	esac
	# A shell that Rosetta translates says x86_64 on an arm64 machine.
	if [ $os = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then
		arch=arm64
	fi
	echo "${os}_${arch}"
}

# base prints the address of the folder with the release's files.
base() {
	if [ -n "${TRACESMITH_BASE_URL:-}" ]; then
		url=${TRACESMITH_BASE_URL%/}
	elif [ -n "${TRACESMITH_VERSION:-}" ]; then
		url=https://github.com/tracesmith/tracesmith/releases/download/v${TRACESMITH_VERSION#v}
	else
		url=https://github.com/tracesmith/tracesmith/releases/latest/download
	fi
	# The checksums come by the same way: who can change the one can change the other.
	case $url in
	https://?*) ;;
	http://127.0.0.1:[0-9]* | http://localhost:[0-9]*)
		case $url in *@*) die 'TRACESMITH_BASE_URL must hold no user name' ;; esac
		;;
	*) die "TRACESMITH_BASE_URL must begin with https://" ;;
	esac
	echo "$url"
}

# fetch URL FILE downloads, and follows no redirect to an unencrypted address.
fetch() {
	scheme=${1%%:*}
	if have curl; then
		curl --fail --silent --show-error --location --proto "=$scheme" --proto-redir "=$scheme" \
			--connect-timeout 20 --retry 2 --output "$2" "$1" || die "cannot download $1"
	elif have wget; then
		only=
		if [ "$scheme" = https ] && wget --help 2>&1 | grep -q -e --https-only; then
			only=--https-only
		fi
		wget -q $only -T 20 -O "$2" "$1" || die "cannot download $1"
	else
		die 'needs curl or wget'
	fi
}

# sum FILE prints its SHA-256.
sum() {
	if have sha256sum; then
		sha256sum <"$1" | cut -d ' ' -f 1
	elif have shasum; then
		shasum -a 256 <"$1" | cut -d ' ' -f 1
	elif have openssl; then
		openssl dgst -sha256 -r <"$1" | cut -d ' ' -f 1
	else
		die 'needs sha256sum, shasum or openssl to check what it downloads'
	fi
}

# listed SYSTEM prints checksum and name of the one archive that the release has for it.
listed() {
	awk -v end="_$1.tar.gz" -v want="${TRACESMITH_VERSION:-}" '
		{ name = $2; sub(/^\*/, "", name) }
		name !~ /^tracesmith_[0-9A-Za-z.+~-]+_[a-z0-9]+_[a-z0-9]+\.tar\.gz$/ { next }
		substr(name, length(name) - length(end) + 1) != end { next }
		{ sub(/^v/, "", want) }
		want != "" && name != "tracesmith_" want end { next }
		$1 ~ /^[0-9a-f]+$/ && length($1) == 64 { print $1, name; found++ }
		END { exit found != 1 }' "$tmp/checksums.txt"
}

# put MODE FROM TO replaces a file by a rename: hooks may be running the old one.
put() {
	mkdir -p "$(dirname "$3")" || die "cannot make $(dirname "$3")"
	if ! cp "$2" "$3.new.$$" || ! chmod "$1" "$3.new.$$" || ! mv -f "$3.new.$$" "$3"; then
		rm -f "$3.new.$$"
		die "cannot write $3"
	fi
}

# extras installs man pages and completions where man, bash and fish look for them; zsh
# must be told. What an archive lacks is left out.
extras() {
	share=$prefix/share
	for page in "$tmp"/files/man/*.1.gz; do
		[ ! -f "$page" ] || put 644 "$page" "$share/man/man1/${page##*/}"
	done
	from=$tmp/files/completions
	[ ! -f "$from/tracesmith.bash" ] || put 644 "$from/tracesmith.bash" "$share/bash-completion/completions/tracesmith"
	[ ! -f "$from/_tracesmith" ] || put 644 "$from/_tracesmith" "$share/zsh/site-functions/_tracesmith"
	[ ! -f "$from/tracesmith.fish" ] || put 644 "$from/tracesmith.fish" "$share/fish/vendor_completions.d/tracesmith.fish"
}

# advise says what is left to do.
advise() {
	# shellcheck disable=SC2016 # the user's shell expands PATH
	case :$PATH: in
	*:"$prefix/bin":*) ;;
	*) printf 'It is not on your PATH. Add this to the profile of your shell:\n\n  export PATH="%s:$PATH"\n\n' "$prefix/bin" ;;
	esac
	first=$(command -v tracesmith 2>/dev/null || true)
	if [ -n "$first" ] && [ "$first" != "$prefix/bin/tracesmith" ]; then
		printf 'Your shell finds another one first: %s\n' "$first"
	fi
	printf 'Next: tracesmith install, which registers the hooks of your agents.\n'
}

main() {
	[ -n "${TRACESMITH_PREFIX:-}${HOME:-}" ] || die 'HOME is not set: set TRACESMITH_PREFIX'
	prefix=${TRACESMITH_PREFIX:-$HOME/.local}
	case $prefix in /*) ;; *) die 'TRACESMITH_PREFIX must be an absolute path' ;; esac
	have tar || die 'needs tar'
	# A function that is called in $(...) dies alone, unless its caller does too.
	target=$(system) || exit 1
	from=$(base) || exit 1

	tmp=$(mktemp -d) || die 'cannot make a temporary folder'
	new=
	trap 'rm -rf "$tmp" ${new:+"$new"}' EXIT
	trap 'exit 1' HUP INT TERM

	fetch "$from/checksums.txt" "$tmp/checksums.txt"
	line=$(listed "$target") || die "$from has no one archive for $target${TRACESMITH_VERSION:+ of version $TRACESMITH_VERSION}"
	want=${line%% *}
	archive=${line#* }
	fetch "$from/$archive" "$tmp/archive"
	got=$(sum "$tmp/archive") || exit 1
	[ "$got" = "$want" ] || die "$archive has the checksum $got and not $want as published: nothing was installed"

	mkdir "$tmp/files"
	tar -xzf "$tmp/archive" -C "$tmp/files" || die "cannot unpack $archive"
	# It is tried where it will be: a temporary folder may allow no programs.
	new=$prefix/bin/.tracesmith.$$
	put 755 "$tmp/files/tracesmith" "$new"
	says=$("$new" version) || die 'the program does not run on this machine: nothing was installed'
	mv -f "$new" "$prefix/bin/tracesmith" || die "cannot write $prefix/bin/tracesmith"
	extras
	printf 'Installed %s as %s\n' "$says" "$prefix/bin/tracesmith"
	advise
}

# The last line, so that a script which was cut off does nothing.
main
