/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The calls of MPE2 2.4.9b for logging, with hpcw behind them: a program written for MPE2 compiles and links
 * without a change. Link with libhpcw_mpe (pkg-config hpcw-mpe). doc/compatibility.md says what differs.
 *
 * Without the wrapper (libhpcw_trace), the library records between MPE_Init_log and MPE_Finish_log, which writes
 * the log. If the wrapper is preloaded or linked, the library records into the wrapper's log, as with MPE2's
 * liblmpe. The wrapper's log begins in MPI_Init, also without MPE_Init_log. MPI_Finalize writes this log under the
 * wrapper's name, and MPE_Finish_log only ends the program's own events.
 *
 * These environment variables of process 0 are used. With the wrapper, the variables HPCW_TRACE_... are used
 * instead:
 *
 *   MPE_LOGFILE_PREFIX   name of the log without .clog2, instead of the argument of MPE_Finish_log
 *   MPE_TMPDIR, TMPDIR, TMP, TEMP   directory of local files; the first one that is set counts; otherwise /tmp
 *   MPE_SAME_TMPDIR      no: each process looks at its own environment for that directory
 *   MPE_CLOCKS_SYNC      no: all processes have the same clock; otherwise clocks are compared
 *   MPE_SYNC_ALGORITHM   how clocks are compared: DEFAULT, SEQ, BITREE or ALTNGBR
 *   MPE_SYNC_FREQUENCY   number of ping-pongs; the quickest one counts
 *   CLOG_BLOCK_SIZE      size of a block of the log, bytes
 *
 * Without effect: MPE_LOG_FORMAT, which MPE2 does not read either; MPE_LOG_RANK2PROCNAME; MPE_DELETE_LOCALFILE;
 * MPE_LOG_OVERHEAD; CLOG_BUFFERED_BLOCKS.
 *
 * Calls return MPE_LOG_OK or one of the codes below. Errors are printed on stderr, one line each. All calls but
 * MPE_Init_log and MPE_Finish_log may be made on any thread. While nothing is recorded, events are ignored.
 */
#ifndef HPCW_MPE_LOG_H
#define HPCW_MPE_LOG_H

#ifndef CLOG_NOMPI
#include <mpi.h>
#else
typedef int MPI_Comm; /* for programs without MPI, which pass no communicator */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Results. */
#define MPE_LOG_OK 0
#define MPE_LOG_LOCKED_OUT 1      /**< not used */
#define MPE_LOG_NO_MEMORY 2       /**< out of memory */
#define MPE_LOG_FILE_PROB 3       /**< the log cannot be begun or written */
#define MPE_LOG_NOT_INITIALIZED 4 /**< MPE_Init_log was not called */
/** cargo (user data of an event) does not fit, or a letter of the format is unknown */
#define MPE_LOG_PACK_FAIL 5
#define MPE_Log_OK MPE_LOG_OK
#define MPE_Log_LOCKED_OUT MPE_LOG_LOCKED_OUT
#define MPE_Log_NO_MEMORY MPE_LOG_NO_MEMORY
#define MPE_Log_FILE_PROB MPE_LOG_FILE_PROB
#define MPE_Log_NOT_INITIALIZED MPE_LOG_NOT_INITIALIZED
#define MPE_Log_PACK_FAIL MPE_LOG_PACK_FAIL

/** Size of the cargo (user data) of an event, bytes. */
#define MPE_LOG_BYTESIZE (4 * sizeof(double))
typedef char MPE_LOG_BYTES[MPE_LOG_BYTESIZE];

/* ---- Begin and end ---- */

/** Begins a recording. Collective over MPI_COMM_WORLD. If the program has not called MPI_Init, this function calls
 * MPI_Init and prints a message, and MPI_Finalize is called when the program exits. */
int MPE_Init_log(void);

/** Returns the state of the recording: 0 before MPE_Init_log, 1 after it, 2 after MPE_Finish_log. */
int MPE_Initialized_logging(void);

/** Resumes recording. With the wrapper, MPI calls are recorded again, too. @return also MPE_LOG_NOT_INITIALIZED */
int MPE_Start_log(void);

/** Pauses recording. Definitions are still accepted. @return also MPE_LOG_NOT_INITIALIZED */
int MPE_Stop_log(void);

/** Does nothing: the library compares clocks at the begin and at the end of the recording, and corrects offset and
 * drift. */
int MPE_Log_sync_clocks(void);

/** Writes the log, `filename`.clog2. Collective. The argument of process 0 is used. @return also
 * MPE_LOG_FILE_PROB */
int MPE_Finish_log(const char *filename);

/** Returns the name of the log after MPE_Finish_log. The name is empty before MPE_Finish_log, and in a program with
 * the wrapper. */
const char *MPE_Log_merged_logfilename(void);

/* ---- Numbers and definitions ---- */

/** Returns a number for an event of a state. A state needs two consecutive numbers, the first of them even. */
int MPE_Log_get_event_number(void);

/** Gets the numbers of a state's begin and end. */
int MPE_Log_get_state_eventIDs(int *statedef_startID, int *statedef_finalID);

/** Gets the number of an event without duration. */
int MPE_Log_get_solo_eventID(int *eventdef_eventID);

/**
 * Describes a state, on one process or several. Names are cut after 31 bytes, colours after 23, formats after 39. A
 * colour that X11 does not know becomes white. `format` may be NULL. @return also MPE_LOG_NOT_INITIALIZED
 */
int MPE_Describe_comm_state(MPI_Comm comm, int state_startID, int state_finalID, const char *name,
                            const char *color, const char *format);
int MPE_Describe_info_state(int state_startID, int state_finalID, const char *name, const char *color,
                            const char *format);
int MPE_Describe_state(int state_startID, int state_finalID, const char *name, const char *color);

/** Describes an event without duration. The rules are those of MPE_Describe_comm_state. */
int MPE_Describe_comm_event(MPI_Comm comm, int eventID, const char *name, const char *color,
                            const char *format);
int MPE_Describe_info_event(int eventID, const char *name, const char *color, const char *format);
int MPE_Describe_event(int eventID, const char *name, const char *color);

/* ---- Events ---- */

/**
 * Packs values into cargo, in the order of the format's letters, and moves `position` past them. The rest of the
 * buffer becomes zero. @return also MPE_LOG_PACK_FAIL
 *
 * @param tokentype  s: a text of `count` bytes; `count` integers: h, d, l, x, X; `count` float or double: e, E
 */
int MPE_Log_pack(MPE_LOG_BYTES bytebuf, int *position, char tokentype, int count, const void *data);

/** Records an event, with cargo unless `bytebuf` is NULL. `data` is not used. */
int MPE_Log_event(int event, int data, const char *bytebuf);
int MPE_Log_bare_event(int event);
int MPE_Log_info_event(int event, const char *bytebuf);

/**
 * Records an event on a communicator. If the log does not have the communicator, the event is shown on
 * MPI_COMM_WORLD. With the wrapper, the log has all communicators.
 */
int MPE_Log_comm_event(MPI_Comm comm, int event, const char *bytebuf);

/** Record the send or the receive of a message. A message to or from MPI_PROC_NULL is ignored. */
int MPE_Log_send(int receiver, int tag, int size);
int MPE_Log_receive(int sender, int tag, int size);

/** Record the send or the receive of a message on a communicator. The record is left out if the log does not have
 * the communicator. */
int MPE_Log_comm_send(MPI_Comm comm, int receiver, int tag, int size);
int MPE_Log_comm_receive(MPI_Comm comm, int sender, int tag, int size);

#ifdef __cplusplus
}
#endif

#endif
