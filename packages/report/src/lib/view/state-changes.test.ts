import type { Json } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyChanges } from './apply-changes.ts'
import { changesBetween } from './changes-between.ts'

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json)
const items = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 12 })

describe('changesBetween and applyChanges', () => {
  it('lead from any value to any other, and leave the first as it is', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const kept = JSON.stringify(before)
        expect(applyChanges(before, changesBetween(before, after))).toEqual(after)
        expect(JSON.stringify(before)).toBe(kept)
      }),
    )
  })

  it('lead back if each change is reversed', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const back = changesBetween(before, after)
          .toReversed()
          .map(({ path, before: old, after: now }) => ({
            path,
            ...(now !== undefined && { before: now }),
            ...(old !== undefined && { after: old }),
          }))
        expect(applyChanges(after, back)).toEqual(before)
      }),
    )
  })

  it('name as few items of lists as were added, removed or changed', () => {
    expect(changesBetween([1, 2, 3, 4], [1, 3, 4, 5])).toEqual([
      { path: '/1', before: 2 },
      { path: '/3', after: 5 },
    ])
    expect(changesBetween([], [])).toEqual([])
    fc.assert(
      fc.property(items, fc.nat(12), fc.integer({ min: 5, max: 9 }), (list, place, item) => {
        const index = Math.min(place, list.length)
        expect(changesBetween(list, list.toSpliced(index, 0, item))).toEqual([{ path: `/${index}`, after: item }])
      }),
    )
  })

  it('go into objects within lists, and escape their keys', () => {
    const before = {
      'a/b': [
        { name: 'x', count: 1 },
        { name: 'y', count: 1 },
      ],
    }
    const after = {
      'a/b': [
        { name: 'x', count: 1 },
        { name: 'y', count: 2 },
      ],
      '~': null,
    }
    expect(changesBetween(before, after)).toEqual([
      { path: '/a~1b/1/count', before: 1, after: 2 },
      { path: '/~0', after: null },
    ])
    expect(applyChanges(before, changesBetween(before, after))).toEqual(after)
  })

  it('compare lists that are too long item by item', () => {
    const long = Array.from({ length: 1_200 }, (_, i) => i)
    const shifted = long.map((item) => item + 5_000)
    expect(changesBetween(long, shifted)).toHaveLength(1_200)
    expect(applyChanges(long, changesBetween(long, shifted))).toEqual(shifted)
  })

  it('write no text of items that two lists share, as lists of large states do', () => {
    const shared = Array.from({ length: 900 }, (_, id): Json => {
      const toJSON = () => {
        throw new Error(`Item ${id} was written.`)
      }
      return { id, toJSON } as unknown as Json
    })
    const before = shared.with(500, { id: 500 })
    expect(changesBetween(before, shared.with(500, { id: -1 }))).toEqual([{ path: '/500/id', before: 500, after: -1 }])
  })
})

describe('applyChanges', () => {
  it('shares what did not change', () => {
    const before = { kept: { deep: [1] }, count: 1 }
    const after = applyChanges(before, [{ path: '/count', before: 1, after: 2 }]) as typeof before
    expect(after.kept).toBe(before.kept)
  })

  it('leaves out changes of places that are not there', () => {
    const state = { list: [1], text: 'x' }
    const nowhere = ['/list/7', '/list/-', '/missing/deep', '/text/0', '/list/0/deep', 'text']
    for (const path of nowhere) expect(applyChanges(state, [{ path, after: 9 }]), path).toEqual(state)
    expect(applyChanges(state, [{ path: '', before: state }])).toEqual(state)
  })
})
