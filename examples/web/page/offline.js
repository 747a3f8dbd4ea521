// SPDX-License-Identifier: Apache-2.0
// Serves the page from a cache if there is no network.
const worker = /** @type {any} a ServiceWorkerGlobalScope */ (self);
const store = "stemma";
const files = ["./", "index.html", "colors.css", "base.css", "picture.css", "style.css", "app.js", "engine.js", "views.js", "text.js", "graph_view.js",
               "layout.js", "elements.js", "lists.js", "tree.js", "search.js", "picture.js", "about.js",
               "worker.js", "stemma.js", "stemma.wasm", "bert_micro.onnx", "bert_micro.modules.json"];

worker.addEventListener("install", event => event.waitUntil(caches.open(store).then(cache => cache.addAll(files)).then(() => worker.skipWaiting())));
worker.addEventListener("activate", event => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", event => {
  if (event.request.method !== "GET" || !event.request.url.startsWith(worker.registration.scope)) {
    return;
  }
  event.respondWith(fetch(event.request).then(async answer => {
    if (answer.ok) {
      (await caches.open(store)).put(event.request, answer.clone());
    }
    return answer;
  }).catch(async () => (await caches.match(event.request, {ignoreSearch: true})) ?? Response.error()));
});
