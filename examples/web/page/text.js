// SPDX-License-Identifier: Apache-2.0
// Sizes and errors as text.

/** @param {unknown} problem */
export const textOf = problem => problem instanceof Error ? problem.message : String(problem);
export const bytes = n => n < 1000 ? `${n} B` : n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : n < 1e9 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(1)} GB`;
