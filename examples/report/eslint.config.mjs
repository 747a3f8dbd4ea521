// SPDX-License-Identifier: Apache-2.0
// What ESLint asks of the page's scripts, which become one; joined by tests/page/lint_test.mjs.
const browser = ["document", "location", "window", "URLSearchParams"];

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
