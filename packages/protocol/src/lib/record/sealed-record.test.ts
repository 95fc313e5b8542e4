import { describe, expect, it } from 'vitest'
import { chainOf } from './episode-chain.ts'
import type { EpisodeRecord } from './episode-record.ts'
import type { MatchRecord } from './match-record.ts'
import { parseSealedRecord, type SealedRecord, sealOf } from './sealed-record.ts'

const line = {
  format: 3,
  run: 'run-1',
  task: { id: 'task-1', prompt: 'Find it.', difficulty: 0.25, split: 'train', tags: ['short'] },
  attempt: 0,
  try: 0,
  environment: { name: 'e', version: '1' },
  params: { low: 1 },
  seed: 'seed',
  chain: '',
  time: { started: 0, ended: 12.5 },
  seal: null,
} as const
const observation = { text: 'Guess.', structured: { low: 1 } }
const reward = { total: 0.5, terms: { solved: 1 }, shaping: 0.1 }
const completion = { model: 'm', promptTokens: 1, completionTokens: 2, cost: null, text: 'Hm.' }
const step = {
  action: { tool: 'guess', arguments: { value: 7 } },
  observation,
  potential: 0.5,
  refused: null,
  stateHash: 'a1',
  milliseconds: 0.75,
  completions: [completion],
}
const end = { kind: 'terminated', reason: 'solved' } as const
const returns = { total: 1, unshaped: 1, discounted: 1 }
const episode: EpisodeRecord = {
  ...line,
  policy: { name: 'p', seed: 's' },
  branch: null,
  start: { observation, potential: 0 },
  steps: [{ ...step, reward }],
  outcome: { kind: 'finished', end },
  returns,
}
const match: MatchRecord = {
  ...line,
  turn: ['ann'],
  seats: { ann: { policy: { name: 'p', seed: 's' }, start: { observation, potential: null }, end, returns } },
  steps: [{ ...step, seat: 'ann', rewards: { ann: reward }, seats: { turn: [], views: { bob: observation } } }],
  outcome: { kind: 'finished' },
}

/** Returns every way to change one text, number or `null` of a value. */
function* editsOf(value: unknown): Generator<unknown> {
  if (typeof value === 'string') yield `${value}!`
  else if (typeof value === 'number') yield value + 1
  else if (value === null) yield {}
  else if (typeof value === 'object')
    for (const [key, part] of Object.entries(value))
      for (const edit of editsOf(part))
        yield Array.isArray(value) ? Object.assign([...value], { [key]: edit }) : { ...value, [key]: edit }
}

describe('sealOf', () => {
  // Lines of earlier releases have these values.
  it.each<[string, SealedRecord, string, string]>([
    ['an episode', episode, '53f89519d3b643d3848d4dbc01bae459', '18cf6b3f69c1ee7ef2ad0c84ebc5e9e2'],
    ['a match', match, 'beba5e38b0e1764f3e2ec2a40cd36de9', '0e8e83f16d4546e5c755528a8dd91ba8'],
  ])('never changes for %s', (_, given, chain, seal) => {
    expect(chainOf(given)).toBe(chain)
    expect(sealOf({ ...given, chain })).toBe(seal)
  })

  it.each<[string, SealedRecord]>([
    ['an episode', episode],
    ['a match', match],
  ])('with the chain, finds an edit of any field of %s', (_, given) => {
    const record = { ...given, chain: chainOf(given) }
    const [chain, seal] = [record.chain, sealOf(record)]
    let edits = 0
    for (const edited of editsOf({ ...record, chain: undefined, seal: undefined }) as Generator<SealedRecord>) {
      edits += 1
      const whole = { ...edited, chain }
      // The format cannot be edited: another one is not read.
      const isFound = chainOf(whole) !== chain || sealOf(whole) !== seal || whole.format !== 3
      expect(isFound, JSON.stringify(edited)).toBe(true)
    }
    expect(edits).toBeGreaterThan(30)
  })

  it('is the same for a line that was written and read', () => {
    for (const record of [episode, match]) {
      const read = parseSealedRecord(JSON.parse(JSON.stringify({ ...record, seal: sealOf(record) })))
      expect(read.data && sealOf(read.data)).toBe(sealOf(record))
    }
  })
})

describe('parseSealedRecord', () => {
  it('reads a line of format 2 as a first play without a seal', () => {
    const { seal: _, try: __, ...older } = { ...episode, format: 2 }
    expect(parseSealedRecord(older).data).toEqual(episode)
  })

  it.each([[null], ['x'], [{}], [{ ...match, steps: [{}] }], [{ ...episode, seats: {} }]])('rejects %j', (json) => {
    expect(parseSealedRecord(json).success).toBe(false)
  })
})
