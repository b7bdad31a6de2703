// The page's own HTTP API. Answers are JSON; an error becomes an Error whose message
// is the one line the server sent.

export async function get(path, params, signal) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params || {})) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const tail = query.size > 0 ? `?${query}` : "";
  const response = await reach(`api/${path}${tail}`, { signal, headers: { Accept: "application/json" } });
  if (response.ok) return response.json();
  let line = `the server answered ${response.status}`;
  try {
    line = (await response.json()).error || line;
  } catch {
    // No JSON: the status says enough.
  }
  const error = new Error(line);
  error.gone = response.status === 404;
  throw error;
}

// reach fetches; a browser's own words for a server that is gone help nobody.
async function reach(address, options) {
  try {
    return await fetch(address, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Error("the page's server does not answer; tracesmith view starts one");
  }
}

// rawPath is where a run stands whole.
export function rawPath(run, trace) {
  return `api/runs/${encodeURIComponent(run)}/raw?trace=${encodeURIComponent(trace)}`;
}

// exportPath is where a turn stands as one file.
export function exportPath(trace) {
  return `api/traces/${encodeURIComponent(trace)}/export.html`;
}

// wholeRun reads a run with nothing shortened.
export async function wholeRun(run, trace, signal) {
  const response = await reach(rawPath(run, trace), { signal });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return JSON.parse(await response.text());
}
