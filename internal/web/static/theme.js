// A plain script in the head, so that a chosen theme is there before the first paint.
(() => {
  let theme = "auto";
  try {
    theme = localStorage.getItem("theme") || "auto";
  } catch {
    // Storage may be off; the system's theme is a good answer.
  }
  document.documentElement.dataset.theme = theme;
})();
