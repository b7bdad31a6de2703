// Package agentkit holds what the agents' integrations have in common: the names of
// metadata beside the contract, bounds on what is carried and repeated, names for
// content that stand in for it, and the anchor that late runs hang on.
package agentkit
