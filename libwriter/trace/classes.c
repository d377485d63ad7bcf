/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/trace/config.h"

const char *const hpcw_i_trace_class_name[HPCW_I_CLASSES] = {
    [HPCW_I_CLASS_MESSAGE] = "message",
    [HPCW_I_CLASS_COLLECTIVE] = "collective",
    [HPCW_I_CLASS_COMMUNICATOR] = "communicator",
    [HPCW_I_CLASS_TOPOLOGY] = "topology",
    [HPCW_I_CLASS_GROUP] = "group",
    [HPCW_I_CLASS_DATATYPE] = "datatype",
    [HPCW_I_CLASS_ATTRIBUTE] = "attribute",
    [HPCW_I_CLASS_ENVIRONMENT] = "environment",
    [HPCW_I_CLASS_FILE] = "file",
    [HPCW_I_CLASS_WINDOW] = "window",
    [HPCW_I_CLASS_SPAWN] = "spawn",
    [HPCW_I_CLASS_INFO] = "info",
};
