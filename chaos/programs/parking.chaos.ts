/**
 * Rollouts of agents that know nothing of weights, while these change, and while workers and gateway are killed. No
 * rollout is begun again by a change of weights, each token has the version that sampled it, and every group is handed
 * out once, with each token that an agent received, once.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createRollouts } from '@episodic/env'
import { type StartedGateway, startGateway } from '../../interop/gateway/start-gateway.ts'
import { type EngineRequest, guessing, startTokenEngine } from '../../interop/gateway/token-engine.ts'
import { runTrial, type Trial } from '../trial.ts'

const WORKER = fileURLToPath(new URL('../players/rollout-worker.ts', import.meta.url))
const TOKEN = 'of-the-trainer-and-nobody-else'
const ATTEMPTS = 8
const TURNS = 6

interface Handed {
  readonly group_id: string
  readonly void: readonly object[]
  readonly rollouts: readonly {
    readonly session_id: string
    readonly reward: number
    readonly sequences: readonly {
      readonly response_ids: readonly number[]
      readonly response_mask: readonly (0 | 1)[]
      readonly response_versions: readonly (string | null)[]
    }[]
  }[]
}

await runTrial('parking', { episodes: '256', updates: '20', kills: '200', workers: '8' }, async (trial) => {
  const { quick, options } = trial
  const episodes = quick ? 32 : Number(options.episodes)
  const updates = quick ? 4 : Number(options.updates)
  const kills = quick ? 8 : Number(options.kills)
  process.env.EPISODIC_CONTROL_TOKEN = TOKEN
  const changed = await playAll(trial, { name: 'changed', episodes, updates, kills: 0, parks: 0.1 })
  const killed = await playAll(trial, { name: 'killed', episodes, updates, kills, parks: 0.1 })
  if (changed.begunAgain > 0) changed.breaches.push(`${changed.begunAgain} rollouts were begun again.`)
  return {
    breaches: [...changed.breaches, ...killed.breaches],
    figures: { episodes, updates, changed: changed.figures, killed: killed.figures },
  }
})

interface Wanted {
  readonly name: string
  readonly episodes: number
  readonly updates: number
  readonly kills: number
  readonly parks: number
}

async function playAll({ rng, options, folder, stack }: Trial, wanted: Wanted) {
  const { name, episodes, updates, kills, parks } = wanted
  const own = rng.stream(name)
  const workers = new Map<string, ChildProcess>()
  let [killed, strokes, isChanging, isOver] = [0, 0, false, false]
  /** Kills the gateway, or a worker, at some requests and some answers of the engine. */
  const strike = () => {
    strokes += 1
    if (killed >= kills || own.int(0, 5) > 0) return
    const victims = [...workers.values()].filter((each) => !each.killed && each.exitCode === null)
    const victim = own.int(0, 3) === 0 ? gateway.process : victims[own.int(0, Math.max(0, victims.length - 1))]
    if (!victim || victim.killed) return
    killed += 1
    victim.kill('SIGKILL')
  }
  const answer = guessing(TURNS)
  const engine = stack.use(
    await startTokenEngine(
      async (request, number) => {
        const whole = await answer(request, number)
        // What it samples in a change of weights is ended in the middle.
        await pause(own.int(0, 20))
        return isChanging ? { content: `Half ${number + 1}. `, isEnded: true } : whole
      },
      { onRequest: strike, onAnswered: strike },
    ),
  )
  const start = (port: number) => startGateway(join(folder, name), engine.url, port)
  let gateway: StartedGateway = stack.use(await start(0))
  const { url } = gateway
  const watch = (async () => {
    for (;;) {
      if (gateway.process.exitCode === null && gateway.process.signalCode === null) await once(gateway.process, 'exit')
      if (isOver) return
      gateway = stack.use(await start(Number(new URL(url).port)))
    }
  })()
  const rollouts = createRollouts(url, TOKEN)
  const send = <T>(method: string, path: string, body?: object) => rollouts.call<T>(`${method} ${path}`, body)

  await send('PUT', '/weights', { version: 'step-0' })
  const groups = episodes / ATTEMPTS
  for (let i = 0; i < groups; i++) await send('POST', '/groups', { group_id: `g${i}`, attempts: ATTEMPTS })
  const notes = Array.from({ length: Number(options.workers) }, (_, i) => join(folder, `${name}-${i}.txt`))
  const employ = (i: number) => {
    const args = [WORKER, url, TOKEN, `worker-${i}`, notes[i] as string, String(parks)]
    const worker = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'inherit'] })
    workers.set(`worker-${i}`, worker)
    worker.on('exit', () => isOver || employ(i))
  }
  for (const i of notes.keys()) employ(i)
  stack.defer(() => {
    isOver = true
    for (const worker of workers.values()) worker.kill('SIGKILL')
  })

  const changeWeights = async (step: number) => {
    await send('PUT', '/weights', { wait: 0 })
    isChanging = true
    while ((await send<{ in_flight: number }>('PUT', '/weights', { wait: 1 })).in_flight > 0);
    isChanging = false
    await send('PUT', '/weights', { version: `step-${step}` })
  }
  const handed: Handed[] = []
  let [batch, changes] = [0, 0]
  while (handed.length < groups || killed < kills || changes < updates) {
    if (changes < Math.min(updates, Math.floor((updates * strokes) / (episodes * TURNS)))) {
      changes += 1
      await changeWeights(changes)
    }
    if (handed.length >= groups && killed < kills)
      await send('POST', '/groups', { group_id: `more${handed.length}`, attempts: 1 })
    // Each batch is asked for twice, as by a trainer that was killed after the first answer.
    const ask = () => send<{ groups: Handed[] | null }>('POST', '/batches', { batch_id: `b${batch}`, groups: 1 })
    const { groups: found } = await ask()
    if (!found) {
      await pause(20)
      continue
    }
    if (JSON.stringify((await ask()).groups) !== JSON.stringify(found)) handed.push(...found)
    handed.push(...found)
    batch += 1
  }
  isOver = true
  gateway.process.kill('SIGKILL')
  for (const worker of workers.values()) worker.kill('SIGKILL')
  await watch
  return check({ name, handed, notes, changes, killed, asked: engine.requests })
}

/** The tokens that the engine samples for its answer of this number. */
function tokensOf(number: number): number[] {
  return Array.from({ length: 1 + (number % 5) }, (_, i) => 100_000 + 10 * number + i)
}

interface Played {
  readonly name: string
  readonly handed: readonly Handed[]
  readonly notes: readonly string[]
  readonly changes: number
  readonly killed: number
  readonly asked: readonly EngineRequest[]
}

function check({ name, handed, notes, changes, killed, asked }: Played) {
  const breaches: string[] = []
  const learned = new Map<number, number>()
  let [tokens, unversioned, mixed] = [0, 0, 0]
  for (const { sequences } of handed.flatMap(({ rollouts }) => rollouts))
    for (const { response_ids: ids, response_mask: mask, response_versions: versions } of sequences) {
      const named = new Set<string>()
      for (const [at, id] of ids.entries()) {
        if (mask[at] !== 1) continue
        tokens += 1
        learned.set(id, (learned.get(id) ?? 0) + 1)
        if (versions[at] === null) unversioned += 1
        else named.add(versions[at] as string)
      }
      if (named.size > 1) mixed += 1
    }
  const rollouts = handed.flatMap((group) => group.rollouts.map(({ session_id }) => session_id))
  const twice = rollouts.length - new Set(rollouts).size + [...learned.values()].filter((times) => times > 1).length
  const wasHanded = new Set(rollouts)
  let [received, continued, lost] = [0, 0, 0]
  const texts = notes.flatMap((file) => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []))
  for (const [id, text] of texts.map((line) => JSON.parse(line) as [string, string])) {
    if (!wasHanded.has(id)) continue
    received += 1
    if (text.startsWith('Half')) continued += 1
    const parts = [...text.matchAll(/(?:Half|Answer) (\d+)\./g)].map(([, number]) => Number(number))
    if (parts.length === 0 || !parts.every((number) => tokensOf(number).every((token) => learned.has(token)))) lost += 1
  }
  // The first request of a rollout is asked once, unless its answer is ended in the middle, or a kill loses it.
  const firsts = asked
    .filter(({ messages }) => messages.length === 1)
    .map(({ messages }) => String(messages[0]?.content))
  const begunAgain = firsts.length - new Set(firsts).size
  const voids = handed.flatMap((group) => group.void).length
  if (lost > 0) breaches.push(`${name}: ${lost} answers that agents received are not handed out.`)
  if (twice > 0) breaches.push(`${name}: ${twice} rollouts or tokens are handed out twice.`)
  if (unversioned > 0) breaches.push(`${name}: ${unversioned} tokens have no version.`)
  if (voids > 0) breaches.push(`${name}: ${voids} rollouts are void.`)
  return {
    breaches,
    begunAgain,
    figures: {
      rollouts: rollouts.length,
      changes,
      killed,
      received,
      continued,
      tokens,
      mixed,
      lost,
      twice,
      unversioned,
      begunAgain,
    },
  }
}
