// SPDX-License-Identifier: Apache-2.0
// <stemma/io/module_dag_json.hpp> is a part of <stemma/wire.hpp>.
#include "../wire.hpp"
