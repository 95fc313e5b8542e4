import { existsSync, readdirSync } from 'node:fs'
import { generateTasks } from '@episodic/dataset'
import { type Connection, connect, type Policy, runEpisode } from '@episodic/env'
import { type HarborTask, writeHarborTask } from '@episodic/export/harbor'
import { createHost, inProcess } from '@episodic/mcp-server'
import { defaultTasks } from '@episodic/play/worlds/default-tasks'
import type { TaskSource } from '@episodic/play/worlds/serve/served-tasks'
import { tasksInFile } from '@episodic/play/worlds/tasks-in-file'
import { loadWorld } from '@episodic/play/worlds/world'
import type { Split, Task } from '@episodic/protocol'
import { HELD_OUT } from '@episodic/report/held-out/held-out'
import { plural } from '@episodic/report/text/format'
import { type Console, say, shownPath } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { makeFolder } from '@episodic/run/base/own-files'
import { holdsRun } from '@episodic/run/folder/record/run-folder'

const GENERATED = 20

export interface HarborOptions {
  readonly out: string
  readonly tasks?: TaskSource | undefined
  readonly split?: Split | undefined
  readonly heldOut?: boolean | undefined
  readonly json?: boolean | undefined
}

/**
 * Writes tasks of a world as a folder of tasks for Harbor. The solution of a task is what the world's solver does.
 *
 * Rejects with `option-invalid` for an environment of several seats and for a folder that is not empty.
 */
export async function exportHarbor(reference: string, options: HarborOptions, console: Console): Promise<void> {
  const { out, tasks: from = GENERATED } = options
  if (holdsRun(reference))
    throw invalidOption(`${reference} is a run: give a world to --format harbor, and tasks as --tasks <dataset>.`)
  if (existsSync(out) && readdirSync(out).length > 0)
    throw invalidOption(`${shownPath(out)} is not empty. Give a new folder as --out.`)
  const world = await loadWorld(reference)
  const { environment, solver } = world
  if (environment.multiplayer)
    throw invalidOption(`A task of Harbor has one player, and ${environment.name} has several seats.`)
  const tasks =
    typeof from === 'number'
      ? generateTasks(world.tasks ?? defaultTasks(world), { seed: 'harbor', count: from })
      : tasksInFile(from, environment)
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const chosen: Task[] = []
  for await (const task of tasks) {
    if (options.split !== undefined && task.split !== options.split) continue
    if (!options.heldOut && task.tags.includes(HELD_OUT))
      throw invalidOption(`Task ${task.id} is held out from training. Give another --split, or --held-out.`)
    const { name, version } = task.environment
    if (name !== environment.name || version !== environment.version)
      throw new HarnessError(
        'dataset-invalid',
        `Task ${task.id} is for ${name} ${version}, and the world is ${environment.name} ${environment.version}.`,
      )
    chosen.push(task)
  }
  makeFolder(out)
  let [written, solved] = [0, 0]
  for (const task of chosen) {
    const harborTask = await (solver ? solve(task, solver, connection) : unsolved(task, connection))
    await writeHarborTask(out, environment, harborTask)
    written += 1
    if (harborTask.solution) solved += 1
  }
  if (options.json) console.out.write(`${JSON.stringify({ tasks: written, solutions: solved })}\n`)
  else
    say(console.err, `${plural(written, 'task')} exported to ${shownPath(out)} as harbor, ${solved} with a solution.`)
}

async function solve(task: Task, policy: Policy, connection: Connection): Promise<HarborTask> {
  const createEnvironment = () => connection.environment(task.environment.name)
  const episode = await runEpisode({ createEnvironment, policy, task, policySeed: task.seed })
  if (episode.kind === 'failed') throw episode.cause
  const earned = episode.steps.reduce((sum, { reward }) => sum + reward.total, 0)
  const actions = episode.steps.map(({ action }) => action)
  return { task, observation: episode.start.observation.text, solution: { actions, earned } }
}

async function unsolved(task: Task, connection: Connection): Promise<HarborTask> {
  await using environment = connection.environment(task.environment.name)
  return { task, observation: (await environment.reset(task)).observation.text, solution: null }
}
