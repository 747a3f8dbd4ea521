// SPDX-License-Identifier: Apache-2.0
// For the scripts of the page joined into one, as tests/page/lint_test.mjs does.
const browser = ["document", "location", "window", "Element", "Event", "HTMLElement", "ResizeObserver", "URLSearchParams", "history"];

export default [{
  files: ["**/*.js"],
  languageOptions: {
    ecmaVersion: 2022,
    sourceType: "script",
    globals: Object.fromEntries(browser.map(name => [name, "readonly"])),
  },
  rules: {
    "array-callback-return": "error",
    "consistent-return": "error",
    "curly": "error",
    "eqeqeq": "error",
    "no-const-assign": "error",
    "no-dupe-keys": "error",
    "no-implicit-globals": "off",
    "no-redeclare": "error",
    "no-shadow": "off",
    "no-undef": "error",
    "no-unreachable": "error",
    "no-unused-vars": "error",
    "no-use-before-define": ["error", {functions: false, variables: false}],
    "no-var": "error",
    "prefer-const": "error",
  },
}];
