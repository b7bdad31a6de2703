// Elements are made here, and text goes in as text: a transcript is hostile input, so
// nothing on the page is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

// Attributes that could run something or leave the page are refused, so that a
// mistake elsewhere shows at once.
function set(node, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith("on")) {
    node.addEventListener(name.slice(2), value);
  } else if (name === "href") {
    node.setAttribute("href", ownLink(value));
  } else if (name === "style" || name === "src" || name === "srcdoc") {
    throw new Error(`dom: ${name} is not set by name`);
  } else {
    node.setAttribute(name, value === true ? "" : String(value));
  }
}

// ownLink lets through addresses within the page and its API.
function ownLink(value) {
  if (/^(#|\/?api\/)/.test(value)) return value;
  throw new Error("dom: an address that is not the page's own");
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) set(node, name, value);
  node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

// el makes an HTML element; strings among its children become text.
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// svg makes an SVG element.
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// outLink is a link that leaves the page, or the text alone if the address is not
// http or https.
export function outLink(address, text, className) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return el("span", { class: className }, text);
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return el("span", { class: className }, text);
  const a = el("a", { class: className, target: "_blank", rel: "noopener noreferrer" }, text);
  a.href = url.href;
  return a;
}

// place sets the geometry of a bar, in hundredths of its lane.
export function place(node, left, width) {
  node.style.setProperty("--left", `${left.toFixed(3)}%`);
  node.style.setProperty("--width", `${width.toFixed(3)}%`);
}

// say tells a screen reader what just happened.
export function say(text) {
  document.getElementById("said").textContent = text;
}

// typing reports whether keys belong to a field rather than to the page.
export function typing(target) {
  return target instanceof HTMLElement && (target.matches("input, select, textarea") || target.isContentEditable);
}
