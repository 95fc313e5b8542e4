import { describe, expect, it } from 'vitest'
import { chainOf, type Reproducible } from './episode-chain.ts'

const step = {
  action: { tool: 'guess', arguments: { value: 7 } },
  observation: { text: '7 is too low.', structured: { hint: 'low' } },
  reward: { total: 0.5, terms: { solved: 0, cost: -0.01 }, shaping: 0.51 },
  potential: 0.5,
  refused: null,
  stateHash: 'a1',
  milliseconds: 0.75,
}
const episode: Reproducible = {
  environment: { name: 'number-guessing', version: '1.0.0' },
  params: { low: 1, high: 9 },
  seed: 'seed',
  branch: null,
  start: { observation: { text: 'Guess.', structured: null }, potential: 0 },
  steps: [step, step],
  outcome: { kind: 'finished', end: { kind: 'terminated', reason: 'solved' } },
}
const happened = { id: 'event-1', type: 'price-changed', data: { price: 7 }, said: 'Now 7.', end: null }
const branch = { rollout: 0, leaves: 4, copies: 1, path: [1], at: [1], seeds: ['fresh'] }

describe('chainOf', () => {
  it('differs for everything that a replay must reproduce', () => {
    const first = (change: object) => ({ ...episode, steps: [{ ...step, ...change }, step] })
    const changed: Reproducible[] = [
      { ...episode, environment: { name: 'number-guessing', version: '1.0.1' } },
      { ...episode, params: { low: 1, high: 10 } },
      { ...episode, seed: 'other' },
      { ...episode, branch },
      { ...episode, branch: { ...branch, at: [2] } },
      { ...episode, branch: { ...branch, seeds: ['other'] } },
      { ...episode, start: { observation: { text: 'Guess!', structured: null }, potential: 0 } },
      { ...episode, steps: [step] },
      { ...episode, outcome: { kind: 'finished', end: { kind: 'terminated', reason: 'lost' } } },
      first({ action: { tool: 'guess', arguments: { value: 8 } } }),
      first({ observation: { text: '7 is too high.', structured: { hint: 'low' } } }),
      first({ reward: { ...step.reward, terms: { solved: 0, cost: -0.02 } } }),
      first({ potential: 0.6 }),
      first({ refused: 'rules' }),
      first({ stateHash: 'a2' }),
      first({ prepared: null }),
      first({ prepared: { price: 7 } }),
      first({ events: [happened] }),
      first({ events: [happened, happened] }),
      first({ events: [{ ...happened, id: 'event-2' }] }),
      first({ events: [{ ...happened, data: { price: 8 } }] }),
      first({ events: [{ ...happened, said: null }] }),
    ]
    expect(new Set([episode, ...changed].map(chainOf)).size).toBe(changed.length + 1)
  })

  // Lines of earlier releases have these values.
  it('never changes', () => {
    expect(chainOf(episode)).toBe('a3489dda153aa7005233a8d049c65dc1')
    const outside = { ...step, events: [happened], prepared: { price: 7, a: [1] } }
    expect(chainOf({ ...episode, steps: [outside] })).toBe('40de19a2a224f84f6aeeec47616e8b2b')
  })

  it('is the same for other times, weights, shaping and places in a tree, and after a file', () => {
    const elsewhere = { ...step, milliseconds: 99, reward: { total: 7, terms: step.reward.terms, shaping: 0 } }
    expect(chainOf({ ...episode, steps: [elsewhere, step] })).toBe(chainOf(episode))
    expect(chainOf(JSON.parse(JSON.stringify(episode)))).toBe(chainOf(episode))
    const elsewhen = { ...step, events: undefined, prepared: undefined }
    expect(chainOf({ ...episode, steps: [elsewhen, step] })).toBe(chainOf(episode))
    const leaf = { ...episode, branch }
    expect(chainOf({ ...leaf, branch: { ...branch, rollout: 1, path: [2] } })).toBe(chainOf(leaf))
  })
})
