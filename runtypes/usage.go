package runtypes

// Usage is the token count of one model call, in tokens. Input and Output are
// totals that include every detail: Anthropic reports cached tokens beside the
// input and OpenAI within it, so a caller adds where its provider does not.
type Usage struct {
	Input  int64
	Output int64

	CacheRead     int64 // input read from a prompt cache
	CacheCreation int64 // input written to a prompt cache, where the lifetime is not known
	Ephemeral5m   int64 // input written to a five-minute cache
	Ephemeral1h   int64 // input written to a one-hour cache
	Reasoning     int64 // output spent on reasoning

	InputDetails  map[string]int64 // further input details LangSmith prices: audio, image, priority_cache_read
	OutputDetails map[string]int64
	TotalCost     float64 // US dollars, only where the agent itself knows the price
}

// append writes the usage_metadata object of the wire.
func (u *Usage) append(dst []byte) ([]byte, error) {
	var buf [8]member
	m := members(buf[:0])
	m.count("input_tokens", u.Input)
	if err := m.details("input_token_details", u.input); err != nil {
		return nil, err
	}
	m.count("output_tokens", u.Output)
	if err := m.details("output_token_details", u.output); err != nil {
		return nil, err
	}
	if u.TotalCost > 0 {
		m.put("total_cost", u.TotalCost)
	}
	m.count("total_tokens", u.Input+u.Output)
	return m.append(dst)
}

func (u *Usage) input(m *members) {
	for key, n := range u.InputDetails {
		m.positive(key, n)
	}
	m.positive("cache_read", u.CacheRead)
	m.positive("ephemeral_1h_input_tokens", u.Ephemeral1h)
	m.positive("ephemeral_5m_input_tokens", u.Ephemeral5m)
	if u.Ephemeral5m == 0 && u.Ephemeral1h == 0 { // the split or the sum, never both: they would be priced twice
		m.positive("cache_creation", u.CacheCreation)
	}
}

func (u *Usage) output(m *members) {
	for key, n := range u.OutputDetails {
		m.positive(key, n)
	}
	m.positive("reasoning", u.Reasoning)
}

// details adds an object of counts, unless it is empty.
func (m *members) details(key string, fill func(*members)) error {
	var buf [8]member
	counts := members(buf[:0])
	fill(&counts)
	if len(counts) == 0 {
		return nil
	}
	raw, err := counts.append(make([]byte, 0, 128))
	m.json(key, raw)
	return err
}

// positive adds a count, unless there is nothing to count.
func (m *members) positive(key string, n int64) {
	if n > 0 {
		m.count(key, n)
	}
}
