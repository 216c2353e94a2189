// Shows an error that happens before the interface is drawn; without it the
// window would stay empty and silent. It knows nothing of the bundle on purpose.
(function () {
  function show(what) {
    var root = document.getElementById("root");
    if (!root || root.childElementCount > 0) return;
    var box = document.createElement("main");
    box.setAttribute("role", "alert");
    box.style.cssText = "font:14px/1.5 system-ui,sans-serif;max-width:40em;margin:12vh auto;padding:0 24px";
    var title = document.createElement("h1");
    title.style.cssText = "font-size:18px;margin:0 0 8px";
    title.textContent = "Chaperone could not draw its window";
    var text = document.createElement("p");
    text.textContent = "Agents are still held to your rules, but nobody can be asked here. Close Chaperone and start it again.";
    var detail = document.createElement("pre");
    detail.style.cssText = "white-space:pre-wrap;opacity:.75;font-size:12px";
    detail.textContent = String(what);
    box.append(title, text, detail);
    root.append(box);
  }
  addEventListener("error", function (e) {
    if (e.target && e.target.src) show("A part of the program could not be loaded: " + e.target.src);
    else show((e.error && e.error.stack) || e.message);
  }, true);
  addEventListener("unhandledrejection", function (e) { show((e.reason && e.reason.stack) || e.reason); });
})();
