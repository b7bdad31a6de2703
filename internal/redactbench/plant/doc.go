// Package plant makes secrets for measurements and tests: of each kind that is told by how
// it begins, and in each form in which one is given to a name, stands in a file or is
// said to a command. They are drawn and open nothing.
package plant
