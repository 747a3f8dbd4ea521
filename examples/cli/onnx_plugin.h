/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STEMMA_EXAMPLES_CLI_ONNX_PLUGIN_H
#define STEMMA_EXAMPLES_CLI_ONNX_PLUGIN_H

/* What the program asks of the ONNX library. It stands in a shared object of its own, which is loaded
 * when a command first needs it, so that all others start without it. */

#include <stemma/version.hpp>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What both sides were built from: the version, and a number that is raised whenever a function below
 * changes. Returned by `stemma_plugin_version`. */
#define STEMMA_PLUGIN_VERSION (STEMMA_VERSION * 100 + 1)

int stemma_plugin_version(void);

/* Takes one value's type: number of the graph, name, bytes of a TypeProto. */
typedef void (*stemma_take_type)(void* user, unsigned graph, const char* name, size_t name_size,
                                 const char* type, size_t type_size);

/* Infers types. Returns 0, or 1 with the reason in `message`. */
int stemma_infer_types(const char* model, size_t size, stemma_take_type take, void* user,
                       char* message, size_t message_size);

/* Runs the checker on the file at `path`, whose bytes are given: 0 valid; 1 not, 2 when it
 * cannot judge, with the reason in `message`. */
int stemma_check_model(const char* model, size_t size, const char* path, char* message,
                       size_t message_size);

#ifdef __cplusplus
}
#endif

#endif
