import { type Connection, connect, type Environment, type Policy, type Target } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { type Action, createRng, DEFAULT_SEAT, type Observation, type Step, seedFor } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import type { CheckContext } from '../check-context.ts'
import { rehearsedTarget } from '../targets/rehearsed-target.ts'
import type { Attempt, CheckTarget, TargetTask } from '../targets/target.ts'

/** Milliseconds that a server has to open a second session, before it counts as one that holds no more. */
const ROOM_TIME = 5_000
/** Tasks of a server that are played: the first that it lists, or its defaults with so many seeds. */
const TASKS = 24

/**
 * Connects to a server whose environment is checked: by default its first, with its own tasks unless some are given.
 * Rejects with the errors of `connect`, with `option-invalid` for an unknown name or a game, and with `world-invalid`
 * if it lists no tasks.
 */
export async function openServed(
  server: Target,
  name: string | undefined,
  seed: string,
  oracle: Policy | null = null,
  given?: readonly Pick<TargetTask, 'prompt' | 'params'>[],
): Promise<CheckTarget> {
  await using cleanUp = new AsyncDisposableStack()
  const connection = cleanUp.use(await connect(server))
  const { info } = connection.environment(name)
  const task = { prompt: info.description, hints: [], params: {}, seed: '0', steps: info.limits.steps }
  const counted = (tasks: number) => Array.from({ length: Math.min(tasks, TASKS) }, (_, i) => i)
  const splits = given ? undefined : await connection.splits?.(info.name)
  const seedOf = (i: number) => String(createRng(seedFor(seed, i)).int(0, 2 ** 31 - 1))
  const listed = splits?.flatMap(({ name: split, tasks }) =>
    counted(tasks).map((index) => ({ ...task, prompt: '', id: `${split}-${index}`, params: { split, index } })),
  )
  const idOf = (i: number) => (given ? `row-${i + 1}` : `seed-${i}`)
  const own = counted(given?.length ?? TASKS).map((i) => ({ ...task, id: idOf(i), seed: seedOf(i), ...given?.[i] }))
  const tasks = listed ?? own
  if (tasks.length === 0) throw new HarnessError('world-invalid', `${info.name} lists no tasks: nothing can be played.`)
  cleanUp.move()
  return servedTarget(connection, info.name, tasks.slice(0, TASKS), oracle)
}

/** Hosts a world whose steps run programs, and returns it as a target that is played as a served one. */
export async function hostedTarget(
  { world, ...context }: Pick<CheckContext, 'world' | 'settings' | 'seed'>,
  count: number,
): Promise<CheckTarget> {
  const host = createHost({ environments: [world.environment] })
  const connection = await connect(inProcess(host))
  const { tasks, name, oracle } = rehearsedTarget({ world, ...context }, count)
  const close = () => connection.close().finally(() => host[Symbol.asyncDispose]())
  return { ...servedTarget(connection, name, tasks, oracle), [Symbol.asyncDispose]: close }
}

/**
 * Returns an environment of a server as a target, which closes the connection. If it cannot be forked, a fork plays the
 * actions of its attempt again, and one session is open at a time, because many servers hold no more: an attempt that
 * goes on after another one has begun is played again, too.
 */
function servedTarget(
  connection: Connection,
  name: string,
  tasks: readonly TargetTask[],
  oracle: Policy | null,
): CheckTarget {
  const { info } = connection.environment(name)
  let closeOther = async () => {}

  function attemptOf(
    task: TargetTask,
    earlier: readonly { readonly action: Action; readonly step: Step }[],
    start?: Observation,
    forked: Environment | null = null,
  ) {
    const played = [...earlier]
    let environment = forked
    const last = () => played.at(-1)?.step ?? null
    const sleep = async () => {
      const closed = environment
      environment = null
      await closed?.close()
    }
    /** Opens a session unless one is open, and plays in it what was played; beside another one, until it is aborted. */
    const wake = async (beside?: AbortSignal): Promise<Environment> => {
      if (environment) return environment
      if (!info.forkable && !beside) {
        await closeOther()
        closeOther = sleep
      }
      const opened = connection.environment(name)
      environment = opened
      const { params, seed, steps } = task
      try {
        start = (await opened.reset({ params, seed, limits: { steps } }, { signal: beside })).observation
        for (const { action } of played) await opened.step(action)
        return opened
      } catch (error) {
        await sleep()
        throw error
      }
    }
    const attempt: Attempt & { wake: typeof wake } = {
      ...{ state: null, wake, [Symbol.asyncDispose]: sleep },
      get end() {
        return last()?.end ?? null
      },
      get turn() {
        return last()?.end ? [] : [DEFAULT_SEAT]
      },
      succeeds: () => last()?.info.success ?? null,
      view() {
        const observation = last()?.observation ?? (start as Observation)
        const tools = info.tools.filter((tool) => observation.tools?.includes(tool.name) ?? true)
        return { observation, last: last(), tools }
      },
      async step(action) {
        const step = await (await wake()).step(action)
        played.push({ action, step })
        const { observation, end, info } = step
        const { terms } = step.reward
        const reward = Object.values(terms).reduce((sum, term) => sum + term, 0)
        return { reward, rewards: { [DEFAULT_SEAT]: reward }, terms, refused: info.refused, observation, end }
      },
      async fork() {
        const [fork = null] = info.forkable && !last()?.end ? await (await wake()).fork() : []
        return attemptOf(task, played, start, fork)
      },
    }
    return attempt
  }

  const open = async (task: TargetTask, signal?: AbortSignal) => {
    const attempt = attemptOf(task, [])
    await attempt.wake(signal)
    return attempt
  }
  return {
    ...{ name, version: info.version, tasks, oracle, forks: info.forkable, isOwn: false, seats: [DEFAULT_SEAT] },
    open: (task) => open(task),
    openBeside: (task) =>
      open(task, AbortSignal.timeout(ROOM_TIME)).catch((error: Error) => {
        if (error.name === 'TimeoutError') return null
        throw error
      }),
    [Symbol.asyncDispose]: () => connection.close(),
  }
}
