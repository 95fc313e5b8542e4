/**
 * From asking for a continuation of step 50 to the first question to its player: the world is put back by its rules and
 * compared, its session is opened, and the player is handed the steps before. Beside it the rules alone.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { openOrigins } from '@episodic/continue/origin/open-origins'
import { connect, PlayerStop, type Policy, scriptedPolicy } from '@episodic/env'
import { main } from '@episodic/harness'
import {
  createHost,
  defineEnvironment,
  defineGame,
  type EnvironmentDefinition,
  inProcess,
  rehearse,
} from '@episodic/mcp-server'
import { defineMcpEnvironment } from '@episodic/mcp-worlds'
import { createRunTask, type OriginOf } from '@episodic/play/play/episodes/rollout'
import type { Action, SealedRecord, Task } from '@episodic/protocol'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { z } from 'zod'
import { median, report, round2 } from '../figures.ts'
import { createDesk, createProject } from '../servers/desk-world.ts'

const STEP = 50
const STEPS = 52
const STARTS = 40
/** Milliseconds. */
const CEILING = 1_000

/** A world whose state is a list of `bytes`, of which a step writes a line. */
const ledgerOf = (name: string, bytes: number) =>
  defineEnvironment({
    ...{ name, version: '1.0.0', description: 'Adds up numbers beside a long list.', params: z.object({}) },
    state: { public: z.object({ total: z.int() }), private: z.object({ lines: z.array(z.string()) }) },
    limits: { steps: STEPS, bytes: 2 * bytes + 100_000 },
    start: () => ({
      public: { total: 0 },
      private: { lines: Array.from({ length: Math.ceil(bytes / 1_024) }, (_, i) => `${i}`.padEnd(1_020, '.')) },
    }),
    observe: ({ total }) => `The total is ${total}.`,
    tools: ({ tool }) => ({
      add: tool({
        description: 'Add one.',
        input: z.object({}),
        play({ state, say }) {
          state.public.total += 1
          state.private.lines[0] = `${state.public.total}`
          return say('Added.')
        },
      }),
    }),
    rewards: { cost: () => -0.01 },
  })

/** Three seats that count in turn. */
const ring = defineGame({
  ...{ name: 'ring', version: '1.0.0', description: 'Count in turn.', params: z.object({}) },
  seats: ['first', 'second', 'third'],
  state: { public: z.object({ count: z.int() }), own: z.object({}), private: z.object({}) },
  limits: { steps: STEPS },
  start: () => ({ public: { count: 0 }, own: { first: {}, second: {}, third: {} }, private: {} }),
  turn: ({ count }) => (['first', 'second', 'third'] as const)[count % 3] ?? 'first',
  observe: ({ public: { count } }) => `${count} are counted.`,
  tools: ({ tool }) => ({
    count: tool({
      description: 'Count on.',
      input: z.object({}),
      play({ state, say }) {
        state.public.count += 1
        return say('Counted.')
      },
    }),
  }),
  rewards: { counted: () => 1 },
})

const folder = mkdtempSync(join(tmpdir(), 'episodic-bench-'))
try {
  const add = { tool: 'add', arguments: {} }
  const kinds: Readonly<Record<string, readonly [EnvironmentDefinition, readonly Action[]]>> = {
    json: [ledgerOf('small', 1_024), repeat(() => add)],
    large: [ledgerOf('large', 10 * 1_024 ** 2), repeat(() => add)],
    disk: [
      createDesk(createProject({ files: 300, parts: 20, lines: 40 })),
      repeat((i) => ({ tool: 'bash', arguments: { command: `echo ${i} >> log.txt; sort log.txt | tail -1` } })),
    ],
    recording: await recordNotes(),
    seats: [ring as unknown as EnvironmentDefinition, repeat(() => ({ tool: 'count', arguments: {} }))],
  }
  const figures: Record<string, { p95: number; rules: number; ratio: number }> = {}
  for (const [kind, [environment, actions]] of Object.entries(kinds)) {
    figures[kind] = await measure(environment, actions)
    console.error(`  ${kind.padEnd(10)} ${JSON.stringify(figures[kind])}`)
  }
  report('continue', {
    ok: Object.values(figures).every(({ p95 }) => p95 < CEILING),
    milliseconds: figures,
  })
} finally {
  rmSync(folder, { recursive: true, maxRetries: 3 })
}

function repeat(action: (i: number) => Action): Action[] {
  return Array.from({ length: STEPS }, (_, i) => action(i))
}

/** Records a server that keeps notes, whose recording plays without it. */
async function recordNotes(): Promise<readonly [EnvironmentDefinition, readonly Action[]]> {
  const actions = repeat(
    (i): Action =>
      i === STEPS - 1
        ? { tool: 'done', arguments: {} }
        : {
            tool: 'create_entities',
            arguments: { entities: [{ name: `n${i}`, entityType: 'note', observations: [] }] },
          },
  )
  const at = (name: string) => join(folder, name)
  const server = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'))
  writeFileSync(at('script.json'), JSON.stringify(actions))
  writeFileSync(at('tasks.jsonl'), '{"prompt":"Write notes."}\n')
  writeFileSync(at('score.ts'), 'export const score = () => 0\n')
  const asked = [
    ...['--mcp', `MEMORY_FILE_PATH={folder}/m.json '${process.execPath}' '${server}'`],
    '--tasks',
    at('tasks.jsonl'),
  ]
  const quiet = { out: new PassThrough().resume(), err: process.stderr } as unknown as Parameters<typeof main>[1]
  const played = [
    'run',
    ...asked,
    '--score',
    at('score.ts'),
    '--policy',
    `script:${at('script.json')}`,
    '--out',
    at('live'),
  ]
  if ((await main(played, quiet)) !== 0) throw new Error('The server of notes was not played.')
  if ((await main(['record', at('live'), '--out', at('notes.jsonl')], quiet)) !== 0)
    throw new Error('It was not recorded.')
  return [await defineMcpEnvironment({ recording: at('notes.jsonl') }), actions]
}

/** Plays an episode, and continues it from its step 50 again and again. */
async function measure(environment: EnvironmentDefinition, actions: readonly Action[]) {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const { name, version } = environment
  const task: Task = {
    ...{
      id: name,
      environment: { name, version },
      tools: [],
      prompt: '',
      hints: [],
      params: {},
      seed: 'bench',
      limits: {},
    },
    ...{ difficulty: 0, split: 'test', tags: [], metadata: {} },
  }
  const world = { url: '', environment, tasks: null, solver: null, policies: {}, graders: {} }
  const seats = environment.multiplayer ? environment.seats : ['agent']
  const script = scriptedPolicy([...actions])
  let asked = 0
  const timed: Policy = {
    name: 'timed',
    start: () => script.start({} as never),
    resume: () => () => {
      asked ||= performance.now()
      throw new PlayerStop('no-action', 'It was asked.')
    },
  }
  const play = async (planned: PlannedEpisode, origins?: OriginOf): Promise<SealedRecord> => {
    const run = createRunTask({
      play: environment.multiplayer
        ? { createGame: () => connection.game(name), maxSteps: null, weights: {} }
        : { createEnvironment: () => connection.environment(name) },
      players: Object.fromEntries(seats.map((seat) => [seat, origins ? timed : script])),
      ...{ seed: '0', discount: 1, originOf: origins },
    })
    const signal = new AbortController().signal
    const [record] = await run(planned, { run: 'bench', signal, now: () => performance.now() })
    return record as SealedRecord
  }
  const record = await play({ task, attempt: 0 })
  const point = { task, record, step: STEP }
  const starts: number[] = []
  const alone: number[] = []
  for (let i = 0; i < STARTS; i++) {
    asked = 0
    const began = performance.now()
    const originOf = openOrigins({ world, origins: new Map() }, [point])
    await play({ task, attempt: i, origin: { seal: record.seal as string, step: STEP, seed: null } }, originOf)
    starts.push(asked - began)
    const before = performance.now()
    const rules = rehearse<EnvironmentDefinition>(environment, { seed: task.seed })
    for (const step of record.steps.slice(0, STEP)) {
      const seat = 'seat' in step ? { seat: step.seat } : {}
      rules.play(step.action.tool, step.action.arguments, { ...seat, prepared: step.prepared })
    }
    alone.push(performance.now() - before)
  }
  const p95 = starts.toSorted((a, b) => a - b)[Math.ceil(STARTS * 0.95) - 1] as number
  return { p95: round2(p95), rules: round2(median(alone)), ratio: round2(median(starts) / median(alone)) }
}
