-- SPDX-License-Identifier: BSD-3-Clause
-- A master gives tasks to workers, and takes results from whoever is done first.
parameters = {
  tasks = 4,          -- of a worker in a phase, on average
  task_bytes = 1024,  -- of a task, at least 1
  result_bytes = 256, -- of a result
  master = 2e-6,      -- seconds that the master needs for a result
}
states = { "Task", "Master" }

local TASK, RESULT = 1, 2 -- tags; a task of no bytes is the last one
for _, key in ipairs { "tasks", "task_bytes" } do
  assert(parameters[key] > 0, "workload." .. key .. ": expected at least 1, got " .. parameters[key])
end

-- Every worker gets a task, and another one for each result, until none is left.
local function give(tasks)
  local busy = 0
  for worker = 1, size - 1 do
    if tasks > 0 then
      send(worker, parameters.task_bytes, TASK)
      tasks, busy = tasks - 1, busy + 1
    else
      send(worker, 0, TASK)
    end
  end
  while busy > 0 do
    local worker = recv(ANY, RESULT)
    compute(parameters.master)
    if tasks > 0 then
      send(worker, parameters.task_bytes, TASK)
      tasks = tasks - 1
    else
      send(worker, 0, TASK)
      busy = busy - 1
    end
  end
end

local function one_task()
  work(1 / parameters.tasks)
end

-- Takes tasks until the last one.
local function take()
  while true do
    local _, bytes = recv(0, TASK)
    if bytes == 0 then return end
    state("Task", one_task)
    send(0, parameters.result_bytes, RESULT)
  end
end

local function master()
  give((size - 1) * parameters.tasks)
end

function run()
  for _ = 1, phases do
    if rank == 0 then state("Master", master) else take() end
    barrier()
    checkpoint()
    next_phase()
  end
end
