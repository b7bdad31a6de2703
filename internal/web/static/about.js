// Where turns go besides the store: the page itself sends nothing anywhere.

import { get } from "./api.js";
import { el } from "./dom.js";
import { when } from "./format.js";

const CONTENT = { "full": "", "no-tool-content": "without what tools were given and gave", "metadata": "without content" };

export async function about(root) {
  let places;
  try {
    places = (await get("about")).destinations;
  } catch {
    return; // what is not known is not claimed
  }
  if (!Array.isArray(places)) return;
  root.classList.toggle("away", places.length > 0);
  root.replaceChildren(el("p", {}, places.length === 0 ? "Turns are kept in the local store. Nothing leaves this machine."
    : [el("span", { class: "aside" }, "This page sends nothing. "), "Your turns go to ", places.map((p, i) => [i > 0 ? "; " : "", place(p)])]));
}

function place({ address, project, content, unredacted, last }) {
  const redacted = unredacted ? "NOT redacted" : "redacted";
  const details = [project ? `project ${project}` : "", content ? CONTENT[content] ?? content : "", content && content !== "metadata" ? redacted : "", last ? `last ${when(last)}` : "nothing yet"];
  return [el("strong", {}, address), el("span", { class: "aside" }, ` (${details.filter(Boolean).join(", ")})`)];
}
