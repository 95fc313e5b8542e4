/** The rules of one session compute for ever while others play: only that session is slowed or fails. */
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createHost } from '@episodic/mcp-server'
import { createWorkerPool } from '@episodic/mcp-server/workers'
import { META, METHODS, type MethodResult, type OpenResult, WireError } from '@episodic/protocol'
import { ask, type Server, startServer } from '../processes/server.ts'
import { runTrial } from '../trial.ts'
import { environment } from '../worlds/hog-world.ts'

const WORLD = new URL('../worlds/hog-world.ts', import.meta.url)
/** Sessions that play at the same time as the hog. */
const OTHERS = 16
/** Milliseconds that a player thinks. */
const THOUGHT = 10
/** How much longer 99 of 100 calls of the others may take than without other computation. */
const SLOWED = 10

await runTrial('hog', {}, async ({ quick, folder, stack }) => {
  const seconds = quick ? 1 : 5
  const timeout = seconds + 1
  const args = ['--worker-threads', '--rules-timeout', String(timeout)]
  const server = stack.use(await startServer({ folder, args, world: fileURLToPath(WORLD) }))
  const players = await Promise.all(Array.from({ length: OTHERS }, (_, index) => open(server, `player ${index}`)))
  const { session } = await open(server, 'the hog')
  const breaches: string[] = []

  // The first calls compile code, and are not measured.
  await playWhile(server, players, pause(500))
  const undisturbed = await playWhile(server, players, pause(seconds * 1_000))
  let busy = { outcome: 'never called', seconds: 0 }
  let endless = busy
  let before: MethodResult<'state'> | null = null
  const hogging = async () => {
    busy = await hog(server, session, 0, { seconds })
    before = await stateOf(server, session)
    endless = await hog(server, session, 1, {})
  }
  const disturbed = await playWhile(server, players, hogging())
  const after = await stateOf(server, session)
  const next = await step(server, session, 1, 'count').then(() => 'answered', codeOf)

  if (busy.outcome !== 'answered' || busy.seconds < seconds) breaches.push(`The busy hog: ${JSON.stringify(busy)}.`)
  if (endless.outcome !== 'environment-failed' || endless.seconds < timeout)
    breaches.push(`The endless hog should be stopped after ${timeout} s: ${JSON.stringify(endless)}.`)
  if (JSON.stringify(before) !== JSON.stringify(after))
    breaches.push(`The stop changed the hog: ${JSON.stringify(before)}, and then ${JSON.stringify(after)}.`)
  if (next !== 'answered') breaches.push(`The hog's session does not play on: ${next}.`)
  const errors = [...undisturbed.errors, ...disturbed.errors]
  for (const error of errors) breaches.push(`Another's call failed: ${error}.`)
  if (disturbed.longest >= seconds * 1_000)
    breaches.push(`A player waited for the hog: ${disturbed.longest} ms, and it computed for ${seconds} s.`)
  // The quick form runs beside other tests, which take what time they like.
  if (!quick && disturbed.p99 > SLOWED * undisturbed.p99)
    breaches.push(`The others' p99 is ${disturbed.p99} ms, and ${undisturbed.p99} ms without the hog.`)
  return {
    breaches,
    figures: {
      others: OTHERS,
      calls: undisturbed.calls + disturbed.calls,
      errors: errors.length,
      p99Undisturbed: undisturbed.p99,
      p99Disturbed: disturbed.p99,
      longestDisturbed: disturbed.longest,
      busyHog: busy.outcome,
      busySeconds: busy.seconds,
      endlessHog: endless.outcome,
      stoppedAfterSeconds: endless.seconds,
      isolationMicrosecondsPerStep: await costOfIsolation(quick ? 1_000 : 5_000),
    },
  }
})

function open(server: Server, name: string): Promise<OpenResult> {
  return ask(server, METHODS.open, { environment: 'hog', requestKey: `the session of ${name}` })
}

function stateOf(server: Server, session: string): Promise<MethodResult<'state'>> {
  return ask(server, METHODS.state, { session })
}

function step(server: Server, session: string, seq: number | undefined, tool: string, args = {}): Promise<unknown> {
  const _meta = { [META.session]: session, ...(seq !== undefined && { [META.seq]: seq }) }
  return ask(server, 'tools/call', { name: tool, arguments: args, _meta })
}

function codeOf(error: unknown): string {
  return WireError.is(error) ? error.code : String(error)
}

/** Makes the rules compute, and resolves with the outcome and the seconds that it took. */
async function hog(server: Server, session: string, seq: number, args: { readonly seconds?: number }) {
  const began = performance.now()
  const outcome = await step(server, session, seq, 'compute', args).then(() => 'answered', codeOf)
  return { outcome, seconds: Math.round(performance.now() - began) / 1_000 }
}

/** Plays step after step in every session until `until` settles. Latencies are in milliseconds. */
async function playWhile(server: Server, players: readonly OpenResult[], until: Promise<unknown>) {
  let over = false
  const ended = until.finally(() => {
    over = true
  })
  const latencies: number[] = []
  const errors: string[] = []
  await Promise.all(
    players.map(async ({ session }) => {
      while (!over) {
        const began = performance.now()
        await step(server, session, undefined, 'count').catch((error) => errors.push(codeOf(error)))
        latencies.push(performance.now() - began)
        await pause(THOUGHT)
      }
    }),
  )
  await ended
  latencies.sort((a, b) => a - b)
  const at = (share: number) => Math.round((latencies[Math.ceil(latencies.length * share) - 1] ?? 0) * 10) / 10
  return { calls: latencies.length, errors, p99: at(0.99), longest: at(1) }
}

/** What a step costs more in a thread than without, one call after the other, in microseconds: a median of rounds. */
async function costOfIsolation(steps: number): Promise<number> {
  await using rules = createWorkerPool({ modules: [WORLD.href] })
  await using isolated = createHost({ environments: [environment], rules })
  await using direct = createHost({ environments: [environment] })
  const differences: number[] = []
  for (let round = 0; round < 6; round++) {
    const taken: number[] = []
    for (const host of [isolated, direct]) {
      const { session } = await host.open(null, { environment: 'hog', requestKey: `round ${round}` })
      const began = performance.now()
      for (let seq = 0; seq < steps; seq++)
        await (await host.resolve(null, { by: 'control', token: session })).step({
          action: { tool: 'count', arguments: {} },
          seq,
        })
      taken.push(((performance.now() - began) / steps) * 1_000)
    }
    const [inThread = 0, atOnce = 0] = taken
    // The first round loads and compiles.
    if (round > 0) differences.push(inThread - atOnce)
  }
  return Math.round(differences.sort((a, b) => a - b)[differences.length >> 1] ?? 0)
}
