/**
 * Episodes that are continued from any of their steps: worlds of every kind are put back exactly, so that a player with
 * the same seed plays on as the episode itself went on; and a command, or the server of a page, that is killed again
 * and again while it continues loses and doubles no line, and leaves the run that it goes on from as it was. The curve
 * that a page was shown is shown again.
 *
 *   pnpm chaos continue --prefixes 1000 --kills 50
 */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { canonicalJson, isMatchRecord, type Json, parseSealedRecord, type SealedRecord } from '@episodic/protocol'
import { compareLines } from '../oracles/sealed-lines.ts'
import { CLI } from '../processes/server.ts'
import { startProcess } from '../processes/start-process.ts'
import { runTrial } from '../trial.ts'
import { until } from '../until.ts'

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url))

/** Worlds of every kind, who plays them, and in how many episodes: short games in more of them. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  json: [example('number-guessing'), '--policy', 'careless'],
  chance: ['frozen-lake', '--policy', 'random'],
  rules: [example('warehouse'), '--policy', 'solver'],
  database: [example('support-desk'), '--policy', 'solver'],
  disk: [example('repair-shop'), '--policy', 'solver'],
  shell: [example('on-call'), '--policy', 'solver', '--tasks', '30'],
  seats: ['kuhn-poker', '--policy', 'random', '--tasks', '70'],
  conversation: [example('phone-support'), '--policy', 'solver'],
}
const TASKS = 20

await runTrial('continue', { prefixes: '1000', kills: '50' }, async ({ rng, quick, options, folder }) => {
  const breaches: string[] = []
  const wanted = quick ? 14 : Number(options.prefixes)
  const strikes = quick ? 2 : Number(options.kills)
  const run = async (...args: string[]) => {
    await using command = startProcess(process.execPath, [CLI, ...args], {
      cwd: folder,
      env: { EPISODIC_HOME: folder },
    })
    const status = await command.exited
    return { status, said: command.said }
  }
  const linesOf = (path: string): SealedRecord[] =>
    readFileSync(join(folder, path, 'episodes.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => parseSealedRecord(JSON.parse(line)).data as SealedRecord)

  let [prefixes, equal] = [0, 0]
  const kinds: Record<string, number> = {}
  const share = Math.ceil(wanted / Object.keys(KINDS).length)
  for (const [kind, played] of Object.entries(KINDS)) {
    const { status, said } = await run(
      'run',
      '--tasks',
      String(TASKS),
      ...played,
      ...(quick ? ['--tasks', '2'] : []),
      '--out',
      kind,
    )
    if (status !== 0) throw new Error(`${kind} was not played: ${said}`)
    const parents = new Map(linesOf(kind).map((record) => [record.task.id, record]))
    const lengths = [...parents.values()].map(({ steps }) => steps.length)
    // A query counts the steps of one seat.
    const isMatch = [...parents.values()].some(isMatchRecord)
    const most = isMatch ? Math.min(...lengths) : Math.max(...lengths)
    kinds[kind] = 0
    for (const step of rng.stream(kind).shuffle(Array.from({ length: most }, (_, i) => i + 1))) {
      if (kinds[kind] >= share) break
      const out = `${kind}-${step}`
      const asked = [
        '--query',
        isMatch ? 'counts:yes' : `steps>=${step}`,
        '--step',
        String(step),
        '--rollouts',
        '1',
        '--out',
        out,
      ]
      const { status, said } = await run('continue', kind, ...asked)
      if (status !== 0) {
        breaches.push(`${kind} was not continued from step ${step}: ${said}`)
        break
      }
      for (const record of linesOf(out)) {
        const parent = parents.get(record.task.id)
        kinds[kind] += 1
        if (parent && restOf(record) === restOf(parent, step - 1)) equal += 1
        else breaches.push(`Task ${record.task.id} of ${kind} goes on otherwise from step ${step}.`)
      }
      const replayed = await run('replay', out)
      if (replayed.status !== 0) breaches.push(`${out} is not replayed: ${replayed.said}`)
    }
    prefixes += kinds[kind]
  }

  const hashOf = (path: string) =>
    globSync('**/*', { cwd: join(folder, path), withFileTypes: true })
      // The index of a run is a cache that pages write.
      .filter((entry) => entry.isFile() && entry.name !== 'episodes.idx')
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .reduce((hash, file) => hash.update(file).update(readFileSync(file)), createHash('sha256'))
      .digest('hex')
  const before = hashOf('json')
  const asked = ['json', '--query', 'steps>=2', '--step', '2', '--seed', '9', '--rollouts', quick ? '40' : '400']
  const quiet = await run('continue', ...asked, '--out', 'quiet')
  if (quiet.status !== 0) throw new Error(`The quiet run failed: ${quiet.said}`)
  let kills = 0
  const ends = { lost: 0, doubled: 0, differing: 0, unknown: 0 }
  const compare = (out: string, other: string) => {
    for (const part of ['control', 'changed']) {
      const files = [out, other].map((name) => join(folder, name, part, 'episodes.jsonl')) as [string, string]
      const found = compareLines(...files)
      for (const name of ['lost', 'doubled', 'differing', 'unknown'] as const) ends[name] += found[name]
    }
  }
  for (let round = 0; kills < strikes; round++) {
    const out = `killed-${round}`
    let resume: string[] = []
    for (let ended = false; !ended; ) {
      await using command = startProcess(process.execPath, [CLI, 'continue', ...asked, '--out', out, ...resume], {
        cwd: folder,
        env: { EPISODIC_HOME: folder },
      })
      if (kills < strikes) {
        await Promise.race([pause(rng.stream('kills').int(300, 2_000)), command.exited])
        command.signal('SIGKILL')
      }
      const status = await command.exited
      ended = status === 0
      if (status === null) kills += 1
      else if (status !== 0) throw new Error(`The killed run failed: ${command.said}`)
      // A command that dies before it has written anything has begun nothing to resume.
      resume = globSync(`${out}/*/run.json`, { cwd: folder }).length > 0 ? ['--resume'] : []
    }
    compare(out, 'quiet')
  }

  // The page's server: what it has begun when it is killed is there afterwards, and the command ends it.
  const [first] = linesOf('json')
  const ofPage = ['json', '--query', `task:${first?.task.id}`, '--step', '2', '--seed', '9', '--rollouts', '64']
  const whole = await run('continue', ...ofPage, '--out', 'page')
  if (whole.status !== 0) throw new Error(`The page's quiet run failed: ${whole.said}`)
  const ofRow = { row: 0, step: 1, changes: { seed: '9' }, rollouts: 64, confirmed: false }
  const begun: string[] = []
  let pageKills = 0
  let curve: Json = null
  // The first one begins a search, and is killed when that has ended.
  for (; pageKills <= strikes; pageKills++) {
    await using page = await openPage(folder)
    if (pageKills === 0) {
      const name = await page.start({ ...ofRow, changes: {}, step: 0, rollouts: 16, budget: quick ? 20 : 200 })
      await until(async () => (await page.listed(name)).loss !== null, 'the search ends', 120)
      curve = (await page.listed(name)).loss
      begun.push(name)
    } else begun.push(await page.start(ofRow))
    await pause(rng.stream('kills').int(1, 1_500))
    page.kill()
  }
  await using page = await openPage(folder)
  const [search = '', ...others] = begun
  if (canonicalJson((await page.listed(search)).loss) !== canonicalJson(curve))
    breaches.push('The curve of a search is another one after a kill.')
  for (const name of others) {
    const { seal, isPlaying, problem } = await page.listed(name)
    if (seal !== first?.seal || isPlaying || problem !== null)
      breaches.push(`The page has ${name} otherwise after a kill.`)
    const resume = globSync(`${name}/*/run.json`, { cwd: folder }).length > 0 ? ['--resume'] : []
    const ended = await run('continue', ...ofPage, '--out', name, ...resume)
    if (ended.status === 0) compare(name, 'page')
    else breaches.push(`${name}, which a page began, was not resumed: ${ended.said}`)
  }
  for (const [name, count] of Object.entries(ends)) if (count > 0) breaches.push(`${count} lines are ${name}.`)
  if (hashOf('json') !== before) breaches.push('The run that was continued has changed.')
  return { breaches, figures: { prefixes, equal, kinds, kills, pageKills, ...ends } }
})

/** What an episode was from a step on, without times and what belongs to its run. */
function restOf(record: SealedRecord, from = 0): string {
  const steps = record.steps.slice(from).map(({ milliseconds: _, ...step }) => step)
  const ends = isMatchRecord(record)
    ? Object.entries(record.seats).map(([seat, { end, success }]) => ({ seat, end, success: success ?? null }))
    : null
  return canonicalJson({ steps, outcome: record.outcome, ends } as unknown as Json)
}

interface Continuation {
  readonly name: string
  readonly seal: string
  readonly isPlaying: boolean
  readonly problem: string | null
  readonly loss: Json
}

/** Starts the server of a run's page, which plays. Disposing of it kills it. */
async function openPage(folder: string) {
  const server = startProcess(process.execPath, [CLI, 'view', 'json', '--play', '--port', '0', '--no-open', '--json'], {
    cwd: folder,
    env: { EPISODIC_HOME: folder },
  })
  const { origin, hash } = new URL(JSON.parse(await server.line()).url)
  const query = new URLSearchParams(hash.split('?')[1])
  const headers = { origin, 'content-type': 'application/json', cookie: '' }
  const send = async (path: string, body?: object) => {
    const method = body ? 'POST' : 'GET'
    const response = await fetch(`${origin}/api${path}`, { method, headers, body: body && JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }
  headers.cookie =
    `${(await send('/login', { token: query.get('token') })).headers.get('set-cookie')}`.split(';')[0] ?? ''
  const runs = (await (await send('/runs')).json()) as { id: string; name: string }[]
  const { id } = runs.find(({ name }) => name === 'json') as { id: string }
  const ask = async (action: string, body: object) =>
    (await send(`/play/${query.get('play')}/${id}/${action}`, body)).json()
  return {
    start: async (body: object) => ((await ask('start', body)) as { name: string }).name,
    async listed(name: string): Promise<Continuation> {
      const all = (await ask('list', {})) as Continuation[]
      const found = all.find((one) => one.name === name)
      if (!found) throw new Error(`The page has no ${name}, but ${all.map((one) => one.name)}.`)
      return found
    },
    kill: () => server.signal('SIGKILL'),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
