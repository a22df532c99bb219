/** The colours of the page, for what is not drawn by its stylesheet. */

/** Calls `listener` when the page changes between light and dark. Returns what ends that. */
export function onThemeChange(listener: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", listener);
  // A page that has a switch of its own sets a class or an attribute at its root.
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributes: true });
  return () => {
    dark.removeEventListener("change", listener);
    observer.disconnect();
  };
}

/** Reads colours as an element has them, whatever they are made of, each as `rgba(…)`. */
export function readColours(element: HTMLElement, names: readonly string[]): readonly string[] {
  const probe = document.createElement("span");
  probe.hidden = true;
  element.append(probe);
  const colours = names.map((name) => {
    probe.style.color = `var(${name})`;
    return plainColour(getComputedStyle(probe).color);
  });
  probe.remove();
  return colours;
}

/** Returns a colour in the notation that everything reads, since a mixed one comes in a newer one. */
function plainColour(colour: string): string {
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 1;
  const pen = canvas.getContext("2d");
  if (pen === null) {
    return colour;
  }
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha = 0] = pen.getImageData(0, 0, 1, 1).data;
  return `rgba(${red}, ${green}, ${blue}, ${alpha / 255})`;
}
