import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRng } from '@episodic/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { openRolloutQueue, type RolloutQueue, RolloutRefused } from './rollout-queue.ts'
import { type SimulatedTraining, simulateTraining, WEDGED } from './simulated-trainer.fixture.ts'
import { Weights } from './weights.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-rollout-queue-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const training = (changed: Partial<SimulatedTraining> & Pick<SimulatedTraining, 'close'>) =>
  simulateTraining({
    ...{ seed: '1', steps: 1_000, slots: 48, groupsOfAStep: 4, attempts: 8, stepSeconds: 30, stuck: 0.002 },
    file: join(folder, `${files++}.jsonl`),
    ...changed,
  })

function kolmogorovSmirnov(one: readonly number[], other: readonly number[]) {
  const [a, b] = [one, other].map((values) => values.toSorted((x, y) => x - y)) as [number[], number[]]
  let [i, j, distance] = [0, 0, 0]
  while (i < a.length && j < b.length) {
    const at = Math.min(a[i] as number, b[j] as number)
    while ((a[i] ?? Number.POSITIVE_INFINITY) <= at) i += 1
    while ((b[j] ?? Number.POSITIVE_INFINITY) <= at) j += 1
    distance = Math.max(distance, Math.abs(i / a.length - j / b.length))
  }
  return { distance, critical: 1.95 * Math.sqrt((a.length + b.length) / (a.length * b.length)) }
}

describe('rollouts of which some never end', () => {
  it('wedge a training that waits for all', async () => {
    const { steps, longestWait } = await training({ close: { others: 'park' } })
    expect(steps).toBeLessThan(1_000)
    expect(longestWait).toBeGreaterThanOrEqual(WEDGED)
  })

  it('hold up no step of 1,000 where groups close by a deadline, also after kills of all processes', async () => {
    const close = { seconds: 300, others: 'park' } as const
    const played = await training({ close, staleness: 100, parksAfter: 240, killsAt: [100, 500, 501, 900] })
    expect(played).toMatchObject({ steps: 1_000, doubled: 0 })
    expect(played.longestWait).toBeLessThan(600)
    // Void are those alone that never end.
    expect(Object.keys(played.void)).toEqual(['stale'])
    const { distance, critical } = kolmogorovSmirnov(played.trained, played.asked)
    expect(distance).toBeLessThan(critical)
  })

  it('bias what is learned towards short ones where the unfinished are ended', async () => {
    const { trained, asked } = await training({ close: { seconds: 120, others: 'end' }, steps: 300 })
    const { distance, critical } = kolmogorovSmirnov(trained, asked)
    expect(distance).toBeGreaterThan(2 * critical)
  })
})

const sessions = { renew: async () => {}, reward() {}, close() {}, isBusy: () => false, credited: () => [] }

function knownOf({ groups }: RolloutQueue, at: number) {
  const rollouts = [...groups.rollouts.values()].map(({ group, note, until, parked, lost, ...rollout }) => {
    // A start gives each lease a minute, so only whether it may run out later counts.
    const open = { note, parked, lost, until: Math.max(until, rollout.state === 'leased' ? at + 60_000 : 0) > 0 }
    return { group: group.id, ...rollout, ...(rollout.state !== 'ended' && open) }
  })
  const all = [...groups.all.values()].map(({ rollouts: _, ended, ...group }) => ({
    ...group,
    ended: ended.map((one) => one.id),
  }))
  return {
    rollouts,
    all,
    open: [...groups.open.keys()],
    batches: groups.batches,
    discarded: groups.discarded,
    updates: groups.updates,
  }
}

describe('the file of a queue', () => {
  it('keeps no note of a rollout that is over after a start, which knows all else', async () => {
    const rng = createRng('compacted')
    const file = join(folder, 'notes.jsonl')
    let time = 1_000
    const open = () => openRolloutQueue({ sessions, weights: new Weights(), now: () => time, file })
    let queue = await open()
    const leased = new Map<string, number>()
    let [starts, rewritten] = [0, 0]
    for (let turn = 0; turn < 3_000; turn++) {
      time += rng.int(0, 4_000)
      const [id, lease] = [...leased][rng.int(0, Math.max(0, leased.size - 1))] ?? ['none', 1]
      const note = rng.chance(0.5) ? { said: `${id} `.repeat(50) } : undefined
      const moves = [
        () =>
          queue.add({ group_id: `g${turn}`, task: {}, attempts: 3, close: { first: 2, others: 'park' }, staleness: 9 }),
        ...Array(3).fill(async () => {
          const found = await queue.lease(30)
          if (found) leased.set(found.id, found.lease)
        }),
        ...Array(3).fill(() => queue.renew(id, { lease, seconds: 30, note })),
        () => queue.park(id, { lease, note }),
        ...Array(3).fill(() => queue.finish(id, { lease, reward: rng.int(0, 9) })),
        () => queue.abandon(id, { lease, reason: 'void' }),
        () => queue.batch(`b${turn}`, 1, false),
        () => queue.load(`step-${turn}`),
      ]
      try {
        await moves[rng.int(0, moves.length - 1)]?.()
      } catch (error) {
        if (!(error instanceof RolloutRefused)) throw error
        leased.delete(id)
      }
      if (!rng.chance(0.03)) continue
      const before = knownOf(queue, time)
      const { size } = statSync(file)
      queue = await open()
      expect(knownOf(queue, time)).toEqual(before)
      starts += 1
      if (statSync(file).size < size) rewritten += 1
      const lines = readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
      const noted = lines.filter(({ note }) => note).map(({ id }) => queue.groups.rollouts.get(id)?.state)
      expect(noted).not.toContain('ended')
    }
    expect(starts).toBeGreaterThan(50)
    expect(rewritten).toBeGreaterThan(30)
  })

  it('keeps what another version has written when it is rewritten', async () => {
    const file = join(folder, 'versions.jsonl')
    const open = () => openRolloutQueue({ sessions, weights: new Weights(), now: () => 1_000, file })
    const queue = await open()
    queue.add({ group_id: 'g', task: {}, attempts: 1, close: { others: 'park' } })
    await queue.lease(60)
    queue.park('g.0', { lease: 1, note: { said: 'x' } })
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    const others = ['{"kind":"pause","at":1,"id":"g"}', '{"kind":"end","at":2,"id":"g.0","reward":1,"by":"worker"}']
    writeFileSync(file, [...lines, ...others, ''].join('\n'))
    await open()
    expect(readFileSync(file, 'utf8').trim().split('\n')).toEqual([...lines.slice(0, 2), ...others])
  })

  it('is as it was after a kill while it is rewritten', async () => {
    const own = mkdtempSync(join(folder, 'killed-'))
    const file = join(own, 'rollouts.jsonl')
    const open = () => openRolloutQueue({ sessions, weights: new Weights(), now: () => 1_000, file })
    const queue = await open()
    queue.add({ group_id: 'g', task: {}, attempts: 40, close: { others: 'park' } })
    for (let attempt = 0; attempt < 40; attempt++) {
      const { id = '', lease = 0 } = (await queue.lease(60)) ?? {}
      const note = { state: 'x'.repeat(1_000_000) }
      if (attempt % 2 === 0) queue.renew(id, { lease, seconds: 60, note })
      queue.park(id, { lease, note })
      const again = await queue.resume(id, 60)
      if (attempt % 4 === 0) queue.finish(id, { lease: again.lease, reward: attempt })
    }
    const known = knownOf(queue, 1_000)
    const before = readFileSync(file)
    const drafts = () => readdirSync(own).filter((name) => name.endsWith('.part'))
    const program = `
      const { openRolloutQueue } = await import(${JSON.stringify(new URL('./rollout-queue.ts', import.meta.url).href)})
      const sessions = { renew: async () => {}, reward() {}, close() {}, isBusy: () => false, credited: () => [] }
      await openRolloutQueue({ sessions, weights: { load() {} }, now: () => 1_000, file: ${JSON.stringify(file)} })`
    let interrupted = 0
    for (let kill = 0; kill < 5 && statSync(file).size === before.length; kill++) {
      const starting = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' })
      const ended = once(starting, 'exit')
      // Half of it is written.
      await expect.poll(() => drafts().some((name) => existsSync(join(own, name))), { interval: 1 }).toBe(true)
      starting.kill('SIGKILL')
      await ended
      if (drafts().length > 0) interrupted += 1
      if (drafts().length > 0) expect(readFileSync(file).equals(before)).toBe(true)
    }
    expect(interrupted).toBeGreaterThan(0)
    expect(knownOf(await open(), 1_000)).toEqual(known)
    expect(drafts()).toEqual([])
    expect(statSync(file).size).toBeLessThan(before.length * 0.8)
  })
})
