/**
 * Episodes that are continued from any of their steps: worlds of every kind are put back exactly, so that a player with
 * the same seed plays on as the episode itself went on; and a command that is killed again and again while it continues
 * loses and doubles no line, and leaves the run that it goes on from as it was.
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

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url))

/** Worlds of every kind, and who plays them. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  json: [example('number-guessing'), '--policy', 'careless'],
  chance: ['frozen-lake', '--policy', 'random'],
  rules: [example('warehouse'), '--policy', 'solver'],
  database: [example('support-desk'), '--policy', 'solver'],
  disk: [example('repair-shop'), '--policy', 'solver'],
  shell: [example('on-call'), '--policy', 'solver'],
  seats: ['kuhn-poker', '--policy', 'random'],
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
    const { status, said } = await run('run', ...played, '--tasks', String(quick ? 2 : TASKS), '--out', kind)
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
      .filter((entry) => entry.isFile())
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
    for (const part of ['control', 'changed']) {
      const found = compareLines(
        join(folder, out, part, 'episodes.jsonl'),
        join(folder, 'quiet', part, 'episodes.jsonl'),
      )
      for (const name of ['lost', 'doubled', 'differing', 'unknown'] as const) ends[name] += found[name]
    }
  }
  for (const [name, count] of Object.entries(ends)) if (count > 0) breaches.push(`${count} lines are ${name}.`)
  if (hashOf('json') !== before) breaches.push('The run that was continued has changed.')
  return { breaches, figures: { prefixes, equal, kinds, kills, ...ends } }
})

/** What an episode was from a step on, without times and what belongs to its run. */
function restOf(record: SealedRecord, from = 0): string {
  const steps = record.steps.slice(from).map(({ milliseconds: _, ...step }) => step)
  const ends = isMatchRecord(record)
    ? Object.entries(record.seats).map(([seat, { end, success }]) => ({ seat, end, success: success ?? null }))
    : null
  return canonicalJson({ steps, outcome: record.outcome, ends } as unknown as Json)
}
