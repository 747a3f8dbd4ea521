// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/html_report.hpp> is a part of <stemma/wire.hpp>.
#include "../wire.hpp"
