// Package packaging tests what a release is made of: install.sh against a release
// that the test makes up and, built with the tag release, the files that
// `make release-snapshot` left in dist. The recipe of the container image is here too.
package packaging
