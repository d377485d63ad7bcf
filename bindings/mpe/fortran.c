/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPE's functions for Fortran (mpe_logf.h), under names with an underscore. The lengths of texts follow all other
 * arguments. Blanks at the end of a text are removed, and a blank text becomes NULL. Cargo, the user data of an
 * event, may be any 32 bytes.
 */
#include <stdio.h>
#include <string.h>

#include "bindings/mpe/session.h"

/* No C header declares these functions. */
#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { MPE_FORTRAN_TEXT = 4096 };

/* Copies a Fortran text into a C string. Returns NULL if it is blank. */
static const char *text(char to[MPE_FORTRAN_TEXT], const char *from, size_t length) {
    while (length > 0 && from[length - 1] == ' ') {
        length--;
    }
    (void)snprintf(to, MPE_FORTRAN_TEXT, "%.*s",
                   (int)(length < MPE_FORTRAN_TEXT ? length : MPE_FORTRAN_TEXT - 1), from);
    return length == 0 ? NULL : to;
}

int mpe_init_log_(void) {
    return MPE_Init_log();
}

int mpe_initialized_logging_(void) {
    return MPE_Initialized_logging();
}

int mpe_start_log_(void) {
    return MPE_Start_log();
}

int mpe_stop_log_(void) {
    return MPE_Stop_log();
}

int mpe_log_sync_clocks_(void) {
    return MPE_Log_sync_clocks();
}

int mpe_finish_log_(const char *filename, size_t length) {
    char c[MPE_FORTRAN_TEXT];
    return MPE_Finish_log(text(c, filename, length));
}

int mpe_log_get_event_number_(void) {
    return MPE_Log_get_event_number();
}

int mpe_log_get_state_eventids_(int *start, int *final) {
    return MPE_Log_get_state_eventIDs(start, final);
}

int mpe_log_get_solo_eventid_(int *event) {
    return MPE_Log_get_solo_eventID(event);
}

int mpe_describe_info_state_(const int *start, const int *final, const char *name, const char *colour,
                             const char *format, size_t name_length, size_t colour_length,
                             size_t format_length) {
    char n[MPE_FORTRAN_TEXT], c[MPE_FORTRAN_TEXT], f[MPE_FORTRAN_TEXT];
    return MPE_Describe_info_state(*start, *final, text(n, name, name_length), text(c, colour, colour_length),
                                   text(f, format, format_length));
}

int mpe_describe_state_(const int *start, const int *final, const char *name, const char *colour,
                        size_t name_length, size_t colour_length) {
    return mpe_describe_info_state_(start, final, name, colour, "", name_length, colour_length, 0);
}

int mpe_describe_info_event_(const int *event, const char *name, const char *colour, const char *format,
                             size_t name_length, size_t colour_length, size_t format_length) {
    char n[MPE_FORTRAN_TEXT], c[MPE_FORTRAN_TEXT], f[MPE_FORTRAN_TEXT];
    return MPE_Describe_info_event(*event, text(n, name, name_length), text(c, colour, colour_length),
                                   text(f, format, format_length));
}

int mpe_describe_event_(const int *event, const char *name, const char *colour, size_t name_length,
                        size_t colour_length) {
    return mpe_describe_info_event_(event, name, colour, "", name_length, colour_length, 0);
}

/* `tokentype` and `data` may be texts. Their lengths, at the end of the arguments, are not needed. */
int mpe_log_pack_(char *bytebuf, int *position, const char *tokentype, const int *count, const void *data) {
    return MPE_Log_pack(bytebuf, position, *tokentype, *count, data);
}

/* A text shorter than MPE_LOG_BYTESIZE, such as one blank, means that the event has no cargo. */
int mpe_log_event_(const int *event, const int *data, const char *bytebuf, size_t length) {
    return MPE_Log_event(*event, *data, length < MPE_LOG_BYTESIZE ? NULL : bytebuf);
}

int mpe_log_info_event_(const int *event, const char *bytebuf, size_t length) {
    return MPE_Log_info_event(*event, length < MPE_LOG_BYTESIZE ? NULL : bytebuf);
}

int mpe_log_bare_event_(const int *event) {
    return MPE_Log_bare_event(*event);
}

int mpe_log_send_(const int *receiver, const int *tag, const int *size) {
    return MPE_Log_send(*receiver, *tag, *size);
}

int mpe_log_receive_(const int *sender, const int *tag, const int *size) {
    return MPE_Log_receive(*sender, *tag, *size);
}
