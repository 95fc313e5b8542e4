import { createFold } from '@episodic/report/fold/fold'
import { playRun } from '@episodic/report/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sealed } from '../record/seal-episode.ts'
import { createTries } from './tries.ts'

const [finished] = playRun({ tasks: 1, attempts: 1, failures: 0 }).map((record) => ({ ...record, attempt: 0 }))
if (!finished) throw new Error('There is no episode.')

/** A line of a try: a failure with a code, or a finished episode. */
function lineOf(number: number, code: string | null) {
  const line = { ...finished, attempt: 0, try: number } as NonNullable<typeof finished>
  if (code === null) return sealed(line)
  return sealed({ ...line, outcome: { kind: 'failed', error: { code, message: code } }, returns: null })
}

const key = `${finished.task.id} 0`

describe('createTries', () => {
  it('plays an episode again that failed for a reason outside of policy and rules, at most as often as allowed', () => {
    const tries = createTries({ retried: 'model', most: 3 })
    expect(tries.next(key)).toBe(0)
    for (const number of [0, 1]) {
      expect(tries.add(lineOf(number, 'model-unavailable'))).toBe(true)
      expect([tries.next(key), tries.done]).toEqual([number + 1, 0])
    }
    expect(tries.add(lineOf(2, 'model-unavailable'))).toBe(true)
    expect([tries.next(key), tries.done]).toEqual([null, 1])
    expect(tries.add(lineOf(2, 'model-unavailable'))).toBe(false)
  })

  it.each<[string, 'model' | 'all' | undefined, number | null]>([
    ['policy-failed', 'model', null],
    ['policy-failed', 'all', 1],
    ['model-unavailable', undefined, null],
  ])('after %s, with --retry-failed %s', (code, retried, next) => {
    const tries = createTries({ retried, most: 3 })
    tries.add(lineOf(0, code))
    expect(tries.next(key)).toBe(next)
  })

  it('is done with an episode that finished, in whatever order its lines come', () => {
    const lines = [lineOf(0, 'model-unavailable'), lineOf(1, 'connection-failed'), lineOf(2, null)]
    fc.assert(
      fc.property(fc.shuffledSubarray(lines, { minLength: 3 }), (shuffled) => {
        const tries = createTries({ retried: 'all', most: 9 })
        for (const line of shuffled) tries.add(line)
        expect([tries.next(key), tries.done]).toEqual([null, 1])
      }),
    )
  })

  it('counts an episode that was just played, and keeps nothing of it', () => {
    const tries = createTries({ most: 3 })
    expect(tries.settle(lineOf(0, null))).toBe(true)
    expect([tries.next(key), tries.done]).toEqual([0, 1])
  })

  it('rejects an episode that was just played if the run has its line', () => {
    const tries = createTries({ retried: 'model', most: 3 })
    tries.add(lineOf(0, 'model-unavailable'))
    expect([tries.settle(lineOf(0, 'model-unavailable')), tries.done]).toEqual([false, 0])
    expect([tries.settle(lineOf(1, null)), tries.done]).toEqual([true, 1])
    expect([tries.settle(lineOf(1, null)), tries.done]).toEqual([false, 1])
  })
})

describe('a report of episodes that were played again', () => {
  it('counts the first finished try, else the last failed one, and shows the first tries beside', () => {
    const anyCodes = fc.array(fc.constantFrom('model-unavailable', 'connection-failed'), { maxLength: 4 })
    fc.assert(
      fc.property(anyCodes, fc.boolean(), fc.func(fc.nat()), (codes, ends, order) => {
        fc.pre(codes.length > 0 || ends)
        const lines = [...codes.map((code, i) => lineOf(i, code)), ...(ends ? [lineOf(codes.length, null)] : [])]
        const fold = createFold()
        for (const line of [...lines, ...lines].sort((a, b) => order(a) - order(b))) fold.add(line)
        const { counts, failures, retried, success } = fold.finish({ name: 'r', scheduled: 1 })
        expect(counts).toMatchObject({ finished: Number(ends), failed: Number(!ends), unresolved: 0, conflicts: 0 })
        expect(failures.map(({ name }) => name)).toEqual(ends ? [] : [codes.at(-1)])
        const more = lines.length - 1
        expect(retried).toEqual(more === 0 ? null : { episodes: 1, plays: more, finished: Number(ends) })
        expect(success.firstTry?.count ?? null).toBe(more === 0 ? null : 0)
      }),
    )
  })
})
