/**
 * Snapshots that a trainer has forged, of every kind of state: each is refused in words or restored, and then played
 * and forked; nothing outside of the server's folders is written, followed or removed, and the server lives.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Json, type JsonObject, META, METHODS, type OpenResult, type Rng, WireError } from '@episodic/protocol'
import { ask, type Server, startServer } from '../processes/server.ts'
import { runTrial } from '../trial.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const WORLDS = [
  at('../worlds/kept-folder-world.ts'),
  at('../workspace/desk-world.ts'),
  at('../worlds/ledger-world.ts'),
  at('../../examples/flight-booking/src/environment.ts'),
] as const

/** A kind of state: how a session of it begins, and a call that reads and changes it. */
interface Kind {
  readonly environment: string
  readonly params?: JsonObject
  readonly call: { readonly name: string; readonly arguments: JsonObject }
}
const KINDS: readonly Kind[] = [
  { environment: 'kept-folder', call: { name: 'add', arguments: { text: 'milk' } } },
  {
    environment: 'desk',
    call: { name: 'bash', arguments: { command: 'ls -lR / | wc -l; cat /project/part-1/*; cd ..; echo x > y' } },
  },
  { environment: 'desk', call: { name: 'sql', arguments: { database: 'd.db', sql: 'create table t(x); begin' } } },
  { environment: 'ledger', call: { name: 'add', arguments: { amount: 1 } } },
  { environment: 'ledger', params: { rows: 400 }, call: { name: 'add', arguments: { amount: 5 } } },
  { environment: 'flight-booking', call: { name: 'act', arguments: { intent: 'greet' } } },
]

/** What a server may answer to a snapshot that no session of it has had. */
const REFUSALS = ['invalid-params', 'invalid-request', 'too-large', 'episode-ended', 'unknown-environment', 'capacity']
/** What it may also answer to a step, or a fork, of a state that the rules or a server cannot go on from. */
const FAILURES = [...REFUSALS, 'environment-failed', 'state-lost', 'outcome-unknown']

await runTrial('snapshots', {}, async ({ rng, quick, folder, stack }) => {
  const breaches: string[] = []
  const forgeries = quick ? 72 : 6_000
  const outside = join(folder, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'kept.txt'), 'kept')
  const home = join(folder, 'home')
  mkdirSync(home)
  const [world, ...others] = WORLDS
  const server = stack.use(await startServer({ world, folder: home, args: [...others] }))
  const samples: { readonly kind: Kind; readonly snapshot: JsonObject }[] = []
  for (const kind of KINDS) {
    const opened = await open(server, kind)
    await step(server, kind, opened)
    const taken = await ask<{ readonly snapshot: JsonObject }>(server, METHODS.snapshot, { session: opened.session })
    samples.push({ kind, snapshot: taken.snapshot })
  }
  const counts = { refused: 0, restored: 0, played: 0, unclear: 0 }
  for (let i = 0; i < forgeries; i++) {
    const { kind, snapshot } = samples[i % samples.length] as (typeof samples)[number]
    const forged = forge(structuredClone(snapshot), rng, outside)
    const restored = await answered<OpenResult>(() =>
      ask(server, METHODS.restore, { snapshot: forged, requestKey: `forgery ${i}, which is long enough` }),
    )
    if ('value' in restored) {
      counts.restored += 1
      const { value } = restored
      const next = [await answered(() => step(server, kind, value))]
      next.push(
        await answered(() =>
          ask(server, METHODS.fork, { session: value.session, requestKey: `a fork of the forgery ${i}` }),
        ),
      )
      for (const each of next) {
        if ('value' in each) counts.played += 1
        else if (!FAILURES.includes(each.code)) breaches.push(`After a forgery: ${each.code}: ${each.message}`)
      }
      await answered(() => ask(server, METHODS.close, { session: value.session }))
    } else if ([...REFUSALS, 'environment-failed'].includes(restored.code) && restored.message.length > 20)
      counts.refused += 1
    else {
      counts.unclear += 1
      breaches.push(`${kind.environment} was answered with ${restored.code}: ${restored.message}`)
    }
    const found = readdirSync(outside).join()
    if (found !== 'kept.txt' || readFileSync(join(outside, 'kept.txt'), 'utf8') !== 'kept') {
      breaches.push(`Outside are ${found}, after ${JSON.stringify(forged).slice(0, 2_000)}`)
      break
    }
  }
  // It lives, and restores what was not forged.
  for (const { kind, snapshot } of samples) {
    const opened = await ask<OpenResult>(server, METHODS.restore, {
      snapshot,
      requestKey: `the sound snapshot of ${JSON.stringify(kind)}`.slice(0, 100),
    })
    await step(server, kind, opened)
  }
  if (existsSync(join(folder, 'escaped'))) breaches.push('A file was written beside the folder of the server.')
  return { breaches, figures: { kinds: samples.length, forgeries, ...counts } }
})

function open(server: Server, { environment, params = {}, call }: Kind): Promise<OpenResult> {
  const requestKey = `opens ${environment} for ${call.name} with ${JSON.stringify(params)}`
  return ask(server, METHODS.open, { environment, params, requestKey, seed: 'snapshots' })
}

function step(server: Server, { call }: Kind, { session, seats }: OpenResult): Promise<unknown> {
  const [{ seq } = { seq: 0 }] = Object.values(seats)
  return ask(server, 'tools/call', { ...call, _meta: { [META.session]: session, [META.seq]: seq } })
}

type Answered<T> = { readonly value: T } | { readonly code: string; readonly message: string }

/** Resolves with an answer, or with the code of a refusal. Rejects if the server is gone. */
async function answered<T>(asking: () => Promise<T>): Promise<Answered<T>> {
  try {
    return { value: await asking() }
  } catch (error) {
    if (WireError.is(error)) return { code: error.code, message: error.message }
    throw error
  }
}

/** Changes one to three places of a snapshot: a value, a key, a name of a file. */
function forge(snapshot: JsonObject, rng: Rng, outside: string): JsonObject {
  const texts = [
    `${'../'.repeat(rng.int(1, 20))}${outside.slice(1)}/escaped`,
    `${outside}/escaped`,
    `a/${'../'.repeat(12)}${outside.slice(1)}/kept.txt`,
    '../escaped',
    '..',
    './a/../../../escaped',
    '/project/../../escaped',
    `file://${outside}/escaped`,
    '__proto__',
    'constructor',
    '\0',
    '',
    'x'.repeat(rng.pick([300, 5_000])),
    `attach '${outside}/escaped' as e; create table e.t(x)`,
  ]
  const values: Json[] = [
    ...texts,
    -1,
    2 ** 53,
    1e308,
    0.5,
    null,
    true,
    [],
    {},
    [[[[[]]]]],
    { kind: 'link', target: outside },
  ]
  const containers: (JsonObject | Json[])[] = []
  const visit = (value: Json) => {
    if (typeof value !== 'object' || value === null) return
    containers.push(value as JsonObject | Json[])
    for (const inner of Object.values(value)) visit(inner as Json)
  }
  visit(snapshot.state as Json)
  const ofState = containers.length
  visit(snapshot)
  if (rng.chance()) {
    // What a schema of texts lets through: another text in the place of one.
    const own = containers.slice(0, ofState) as Record<string, Json>[]
    const texted = own.filter((place) => Object.values(place).some((value) => typeof value === 'string'))
    const place = rng.pick(texted.length > 0 ? texted : own)
    const keys = Object.keys(place).filter((key) => typeof place[key] === 'string')
    if (keys.length > 0) place[rng.pick(keys)] = rng.pick(texts)
    return snapshot
  }
  for (let changes = rng.int(1, 3); changes > 0; changes--) {
    // Mostly the state, of which most is its files.
    const place = containers[rng.chance(0.8) ? rng.int(0, ofState - 1) : rng.int(0, containers.length - 1)] as Record<
      string,
      Json
    >
    const keys = Object.keys(place)
    const key = rng.pick(keys.length > 0 ? keys : ['x'])
    const drawn = rng.int(0, 3)
    if (Array.isArray(place)) place[rng.int(0, place.length) as never] = rng.pick(values) as never
    else if (drawn === 0) delete place[key]
    else if (drawn === 1) place[key] = rng.pick(values)
    // The content of another file under a new name.
    else
      Object.defineProperty(place, rng.pick(texts), {
        value: place[key] ?? 'ZXNjYXBlZA==',
        enumerable: true,
        configurable: true,
        writable: true,
      })
  }
  return snapshot
}
