"use strict";
const D = JSON.parse(document.getElementById("data").textContent);
const S = (n) => D.strings[n];
const main = document.getElementById("main");
const dialog = document.getElementById("detail");

function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "onclick") made.addEventListener("click", value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}
const section = (id, title, ...children) => main.append(el("section", { "aria-labelledby": id },
  el("h2", { id }, title), ...children));
function copyButton(text) {
  const button = el("button", { type: "button" }, "Copy");
  button.addEventListener("click", () => navigator.clipboard?.writeText(text).then(() => { button.textContent = "Copied"; }, () => {}));
  return button;
}
