!     SPDX-License-Identifier: BSD-3-Clause
!     The functions of mpe_log.h, for Fortran of either source form.
      integer MPE_LOG_OK, MPE_LOG_LOCKED_OUT, MPE_LOG_NO_MEMORY
      integer MPE_LOG_FILE_PROB, MPE_LOG_NOT_INITIALIZED
      integer MPE_LOG_PACK_FAIL
      parameter (MPE_LOG_OK = 0, MPE_LOG_LOCKED_OUT = 1)
      parameter (MPE_LOG_NO_MEMORY = 2, MPE_LOG_FILE_PROB = 3)
      parameter (MPE_LOG_NOT_INITIALIZED = 4, MPE_LOG_PACK_FAIL = 5)
      integer, external :: MPE_Init_log, MPE_Initialized_logging
      integer, external :: MPE_Start_log, MPE_Stop_log
      integer, external :: MPE_Log_sync_clocks, MPE_Finish_log
      integer, external :: MPE_Log_get_event_number
      integer, external :: MPE_Log_get_state_eventIDs
      integer, external :: MPE_Log_get_solo_eventID
      integer, external :: MPE_Describe_state
      integer, external :: MPE_Describe_info_state
      integer, external :: MPE_Describe_event
      integer, external :: MPE_Describe_info_event
      integer, external :: MPE_Log_pack, MPE_Log_event
      integer, external :: MPE_Log_bare_event, MPE_Log_info_event
      integer, external :: MPE_Log_send, MPE_Log_receive
