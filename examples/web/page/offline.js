// SPDX-License-Identifier: Apache-2.0
// Keeps the page for when there is no network; where there is one, what it says is taken.
/* global self, caches */
const worker = /** @type {any} a ServiceWorkerGlobalScope */ (self);
const store = "stemma";
const files = ["./", "index.html", "colors.css", "style.css", "app.js", "engine.js", "views.js", "parts.js", "tree_view.js", "graph_view.js", "layout.js", "elements.js",
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
