// SPDX-License-Identifier: Apache-2.0
// Keeps the page for when there is no network; where there is one, what it says is taken.
/* global self, caches */
const name = "stemma";
const files = ["./", "index.html", "style.css", "app.js", "engine.js", "views.js", "parts.js", "tree_view.js", "graph_view.js", "layout.js",
               "worker.js", "stemma.js", "stemma.wasm", "bert_micro.onnx", "bert_micro.modules.json"];

self.addEventListener("install", event => event.waitUntil(caches.open(name).then(cache => cache.addAll(files)).then(() => self.skipWaiting())));
self.addEventListener("activate", event => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", event => {
  if (event.request.method !== "GET" || !event.request.url.startsWith(self.registration.scope)) {
    return;
  }
  event.respondWith(fetch(event.request).then(async answer => {
    if (answer.ok) {
      (await caches.open(name)).put(event.request, answer.clone());
    }
    return answer;
  }).catch(async () => (await caches.match(event.request, {ignoreSearch: true})) ?? Response.error()));
});
