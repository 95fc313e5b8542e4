import { hash } from 'node:crypto'
import { defineTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineEnvironment, type PlayContext } from '@episodic/mcp-server'
import {
  type Disk,
  listFiles,
  type Machine,
  type ReadOnlyDisk,
  readBytes,
  startWorkspace,
  workspaceState,
  workspaceTools,
} from '@episodic/workspace'
import { z } from 'zod'
import { digestOf, type HarborTask, listHarborTasks, readHarborTask } from './harbor-task.ts'
import { type Rewards, rewards, verifyTask } from './verify-task.ts'

/** Seconds that a command of the agent may take, and that tests may wait for the machine. */
const COMMAND_SECONDS = 120
const WAITING = 3_600

interface Judged {
  readonly state: { readonly private: { readonly disk: ReadOnlyDisk } }
  readonly params: { readonly task: string }
  readonly signal: AbortSignal
}

interface Ended extends Pick<PlayContext<unknown, unknown, object, undefined>, 'end' | 'say'> {
  readonly state: { private: { rewards: Rewards | null } }
  readonly prepared: { readonly rewards: Rewards }
}

/**
 * Returns tasks of Harbor as a world: the agent has a shell and files on a machine, and when it calls `finish`, or
 * stops, `tests/test.sh` runs over its files in a box of its own, and writes the reward. The solver plays the solutions
 * of their authors. A test that writes no reward is a fault of the world, as in Harbor, and no reward of 0.
 *
 * Throws a `HarborTaskError` for a folder without tasks, and for a task that needs containers.
 *
 * @param folder - a task, or a folder with tasks.
 */
export function harborWorld(folder: string, { machine }: { readonly machine: Machine }) {
  const folders = listHarborTasks(folder)
  const all = new Map(folders.map(readHarborTask).map((task) => [task.name, task]))
  const names = [...all.keys()] as [string, ...string[]]
  const taskOf = (name: string) => all.get(name) as HarborTask

  const judging = (description: string) => ({
    description,
    input: z.object({}),
    prepared: z.object({ rewards }),
    repeatable: true as const,
    annotations: { openWorldHint: false },
    prepareSeconds: Math.max(...[...all.values()].map(({ seconds }) => seconds)) + WAITING,
    prepare: async ({ state, params, signal }: Judged): Promise<{ rewards: Rewards }> => ({
      rewards: await verifyTask(taskOf(params.task), state.private.disk, machine, signal),
    }),
    play({ state, prepared, end, say }: Ended) {
      state.private.rewards = prepared.rewards
      end('judged')
      return say('Thank you.')
    },
  })

  const environment = defineEnvironment({
    name: 'harbor',
    version: `1.0.0-${digestOf(folders)}`,
    description: 'A task of Harbor: work on a computer, judged by its tests.',
    handle: 'task',
    params: z.object({ task: z.enum(names).default(names[0]) }),
    limits: { steps: 200 },
    state: {
      public: z.object({}),
      private: z.object({ ...workspaceState, rewards: rewards.nullable() }),
    },
    start({ params }) {
      const { disk, variables, workdir } = taskOf(params.task)
      const { shell, ...rest } = startWorkspace(disk, { variables })
      return { public: {}, private: { ...rest, shell: { ...shell, cwd: workdir }, rewards: null } }
    },
    observe: () => 'The files are as the task says. Call finish when the work is done.',
    tools: ({ tool }) => ({
      ...workspaceTools(tool, { machine, seconds: COMMAND_SECONDS }),
      finish: tool(judging('Say that the work is done: hidden tests run over the files.')),
    }),
    absent: ({ tool }) => tool(judging('Hidden tests run over the files that were left.')),
    rewards: {
      reward: ({ before, after }) => (before.private.rewards ? 0 : rewardOf(after.private.rewards)),
    },
    success: ({ state }) => rewardOf(state.private.rewards) >= 1,
  })

  const tasks = defineTasks({
    name: 'harbor',
    environment,
    count: names.length,
    generate({ index }) {
      const task = names[index % names.length] as string
      return { prompt: taskOf(task).prompt, params: { task }, difficulty: 0, seed: hash('sha256', `harbor ${task}`) }
    },
  })

  const nothing = definePolicy(environment, { name: 'nothing', start: () => () => ({ tool: 'finish', arguments: {} }) })
  const solver = definePolicy(environment, {
    name: 'oracle',
    start({ task: { params } }) {
      const { solution } = taskOf(params.task)
      const files = solution ? listFiles(solution, '/solution').filter(({ kind }) => kind === 'file') : []
      const scripts = files.map(({ path }) => {
        const content = Buffer.from(readBytes(solution as Disk, path) as Uint8Array).toString('base64')
        return `mkdir -p "$(dirname '${path}')" && echo ${content} | base64 -d > '${path}'`
      })
      if (solution) scripts.push('bash /solution/solve.sh')
      return () => {
        const command = scripts.shift()
        return command === undefined ? { tool: 'finish', arguments: {} } : { tool: 'bash', arguments: { command } }
      }
    },
  })
  return { environment, tasks, solver, policies: { nothing } }
}

/** The reward of a trial: what is called so, or else the mean of all. */
function rewardOf(named: Rewards | null): number {
  if (!named) return 0
  const values = Object.values(named)
  return named.reward ?? values.reduce((sum, value) => sum + value, 0) / values.length
}
