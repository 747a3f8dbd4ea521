// SPDX-License-Identifier: Apache-2.0
// <stemma/report/module_dag_json.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
