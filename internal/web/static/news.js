// News of changes, as the server tells them. A browser keeps but a few connections to one
// server, so of all tabs with this page one listens, and tells the others.

const AGAIN = 5000; // milliseconds until a server that refused is asked again

// listen calls changed with the ids of traces that changed and of those that are gone, and
// state with whether the page hears of changes. It stops when the signal aborts.
export function listen(changed, state, signal) {
  const others = "BroadcastChannel" in window ? new BroadcastChannel("news") : null;
  const hear = (said) => {
    if (typeof said.on === "boolean") state(said.on);
    if (said.changed) changed(said.changed, said.removed || []);
  };
  let last = null; // what this tab, if it listens for all, last said of how it goes
  const tell = (said) => {
    if (typeof said.on === "boolean") last = said;
    hear(said);
    others?.postMessage(said);
  };
  others?.addEventListener("message", ({ data }) => {
    if (!data.ask) hear(data);
    else if (last) others.postMessage(last);
  });
  signal.addEventListener("abort", () => others?.close());
  const lead = () => new Promise((done) => {
    let source = null;
    const open = () => {
      if (signal.aborted) return;
      source = new EventSource("api/events");
      source.onopen = () => tell({ on: true });
      source.onerror = () => {
        tell({ on: false });
        // The browser tries again by itself, unless it was refused.
        if (source.readyState === EventSource.CLOSED) setTimeout(open, AGAIN);
      };
      source.onmessage = (event) => {
        try {
          tell(JSON.parse(event.data));
        } catch {
          // A line that is no JSON tells of no trace.
        }
      };
    };
    open();
    signal.addEventListener("abort", () => {
      source.close();
      done();
    });
  });
  // Without locks, as where the page comes by http from another name, each tab listens.
  if (!navigator.locks || !others) return lead();
  others.postMessage({ ask: true });
  return navigator.locks.request("news", { signal }, () => {
    // Who takes over may have missed something in between.
    state(false);
    return lead();
  }).catch(() => {}); // it was aborted while it waited
}
