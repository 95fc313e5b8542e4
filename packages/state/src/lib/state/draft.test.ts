import { canonicalJson, type JsonObject } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { differences, type PartDifference } from './differences.ts'
import { Draft } from './draft.ts'
import { type PageNode, pageOf, type Value } from './page-node.ts'
import { treeOf } from './tree-of.ts'
import { Views } from './view.ts'

type Node = Record<string, unknown> | unknown[]

/** One edit of a program. It finds its places by numbers, so that it fits any state. */
interface Edit {
  readonly kind: (typeof KINDS)[number]
  readonly place: readonly number[]
  readonly other: readonly number[]
  readonly index: number
  readonly count: number
  readonly key: string
  readonly value: unknown
}

const KINDS = [
  'set',
  'set',
  'set',
  'delete',
  'push',
  'pop',
  'shift',
  'unshift',
  'splice',
  'sort',
  'reverse',
  'length',
  'alias',
  'spread',
  'swap',
  'rows',
  'fill',
  'keys',
  'read',
  'clear',
] as const

const anyKey = fc.constantFrom(
  'a',
  'b',
  'status',
  'é',
  '7',
  '10',
  '2',
  '__proto',
  'constructor',
  'length',
  'row-3',
  'row-4000',
)
const anyText = fc.oneof(
  fc.constantFrom('', 'x', 'né"\\', '🎲'),
  fc.integer({ min: 0, max: 900 }).map((n) => 'text '.repeat(n)),
)
const anyValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, 0, -1.5, 1e21),
    anyText,
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(anyKey, tie('any'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).any as fc.Arbitrary<unknown>

const anyPlace = fc.array(fc.nat(5_000), { maxLength: 4 })
const anyEdit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom(...KINDS),
  place: anyPlace,
  other: anyPlace,
  index: fc.nat(400),
  count: fc.nat(40),
  key: anyKey,
  value: anyValue,
})

/** A state with tables and lists from nothing to some hundred kilobytes. */
const anyState = fc
  .record({
    rows: fc.nat(400),
    list: fc.nat(600),
    numbers: fc.nat(2_000),
    more: fc.dictionary(anyKey, anyValue, { maxKeys: 5, noNullPrototype: true }),
  })
  .map(({ rows, list, numbers, more }) => ({
    public: { more },
    private: {
      table: Object.fromEntries(
        Array.from({ length: rows }, (_, i) => [i % 9 === 0 ? String(i * 7) : `row-${i}`, rowOf(i)]),
      ),
      list: Array.from({ length: list }, (_, i) => rowOf(i)),
      numbers: Array.from({ length: numbers }, (_, i) => i % 13),
      text: 'long '.repeat(list * 3),
    },
  }))

function rowOf(i: number): JsonObject {
  return {
    id: i,
    status: i % 3 ? 'open' : 'closed',
    items: [i, `item ${i}`],
    at: { city: `city ${i % 17}`, note: 'n'.repeat(i % 40) },
  }
}

/** Returns a value with all differences made in it. */
function patched(value: Node, found: readonly PartDifference[]): unknown {
  const whole: Record<string, unknown> = { whole: value }
  const shorter = new Set<unknown[]>()
  for (const { path, after } of found) {
    const [key, ...above] = ['whole', ...path].reverse() as [string, ...string[]]
    let holder = whole
    for (const step of above.reverse()) holder = holder[step] as Record<string, unknown>
    if (after !== undefined) holder[key] = copy(after as Node)
    else if (Array.isArray(holder)) shorter.add(holder)
    if (after === undefined) delete holder[key]
  }
  for (const list of shorter) list.length = 1 + list.findLastIndex((_, index) => index in list)
  return whole.whole
}

describe('Draft', () => {
  it('ends with the value, the texts and the names that the same edits give plain objects', () => {
    fc.assert(
      fc.property(anyState, fc.array(fc.array(anyEdit, { maxLength: 8 }), { maxLength: 4 }), (state, steps) => {
        const lineage = {}
        let held = build(state)
        let plain = copy(state)
        for (const edits of steps) {
          const draft = new Draft(held, lineage)
          const shown = new Views(lineage).of(held)
          const before = JSON.stringify(shown)
          const after = copy(plain)
          const failed = attempt(() => edits.map((edit) => apply(after, edit)))
          const failedDraft = attempt(() => edits.map((edit) => apply(draft.root as Node, edit)))
          expect(failedDraft).toEqual(failed)
          const text = attempt(() => JSON.stringify(after))
          if ('threw' in failed || 'threw' in text) {
            if ('threw' in text) expect(() => draft.finish('state')).toThrow()
            continue
          }
          expect(JSON.stringify(draft.root)).toBe(text.gave)
          held = draft.finish('state')
          plain = JSON.parse(text.gave as string)
          const view = new Views(lineage).of(held)
          expect(JSON.stringify(view)).toBe(text.gave)
          const found = [...differences(shown, view)]
          expect(patched(JSON.parse(before), found)).toEqual(JSON.parse(text.gave as string))
          for (const { before: was, after: is } of found) expect(JSON.stringify(was)).not.toBe(JSON.stringify(is))
          expect(Object.keys(view as object)).toEqual(Object.keys(plain))
          expect(nameOf(held)).toBe(nameOf(build(plain)))
          expect(bytesIn(held)).toBe(new TextEncoder().encode(text.gave as string).length)
          keep(held)
          if (before === text.gave) expect(nameOf(held)).toBe(nameOf(build(JSON.parse(before))))
        }
      }),
      { numRuns: 80 },
    )
  })
})

function build(state: unknown): Value {
  return treeOf(state, 'state', () => null)
}

/** Has the pages of a value forget their texts, as those of a session do once they are stored. */
function keep(value: Value): void {
  const visit = (page: PageNode) => {
    if (page.kept) return
    for (const child of page.children()) visit(child)
    page.keep()
  }
  const page = pageOf(value)
  if (page) visit(page)
}

function nameOf(value: Value): string {
  return pageOf(value)?.name ?? canonicalJson(value as never)
}

function bytesIn(value: Value): number {
  return typeof value === 'object' && value !== null ? value.bytes : -1
}

function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}

function attempt<T>(run: () => T): { readonly gave: T } | { readonly threw: string } {
  try {
    return { gave: run() }
  } catch (error) {
    return { threw: (error as Error).name }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

function own(node: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(node, key) ? node[key] : null
}

/** Goes down from the root by numbers, as far as there are objects. */
function find(root: Node, place: readonly number[]): Node {
  let node = root
  for (const number of place) {
    const inner = Object.values(node).filter(isNode)
    if (inner.length === 0) break
    node = inner[number % inner.length] as Node
  }
  return node
}

/** Applies an edit, and returns what the program read. */
function apply(root: Node, { kind, place, other, index, count, key, value: given }: Edit): unknown {
  const node = find(root, place)
  const value = isNode(given) ? copy(given) : given
  if (kind === 'keys') return [Object.keys(node), key in node, Object.hasOwn(node, key), Array.isArray(node)]
  if (kind === 'read') return JSON.stringify([{ ...node }, Object.entries(node).at(-1)])
  if (kind === 'alias') {
    const from = find(root, other)
    if (Array.isArray(node)) node.push(from)
    else node[key] = from
    return null
  }
  if (Array.isArray(node)) {
    const at = node.length === 0 ? 0 : index % node.length
    if (kind === 'set' && node.length > 0) node[at] = value
    if (kind === 'delete') return node.splice(at, 1).length
    if (kind === 'push') return node.push(value, count)
    if (kind === 'pop') return JSON.stringify(node.pop())
    if (kind === 'shift') return JSON.stringify(node.shift())
    if (kind === 'unshift') return node.unshift(value)
    if (kind === 'splice') return JSON.stringify(node.splice(at, count, value, value))
    if (kind === 'sort') node.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    if (kind === 'reverse') node.reverse()
    if (kind === 'length') node.length = at
    if (kind === 'fill') node.fill(count, at, at + 3)
    if (kind === 'swap' && node.length > 1) [node[0], node[at]] = [node[at], node[0]]
    if (kind === 'rows') for (const row of node) if (isNode(row) && !Array.isArray(row)) row[key] = count
    if (kind === 'clear') node.length = 0
    return [node.length, node.indexOf(count), JSON.stringify(node.slice(-2)), node.concat([1]).length]
  }
  const keys = Object.keys(node)
  const name = keys[index % Math.max(1, keys.length)] ?? key
  if (kind === 'set') node[index % 2 ? name : key] = value
  if (kind === 'delete' || kind === 'pop') return delete node[name]
  if (kind === 'spread') node[key] = { ...node, extra: value }
  if (kind === 'swap') [node[key], node[name]] = [own(node, name), own(node, key)]
  if (kind === 'splice') {
    const kept = own(node, name)
    delete node[name]
    node[name] = kept
  }
  if (kind === 'rows') for (const row of Object.values(node)) if (isNode(row) && !Array.isArray(row)) row[key] = value
  if (kind === 'push') for (let i = 0; i < count; i++) node[`new-${i}`] = rowOf(i)
  if (kind === 'clear') for (const each of keys) delete node[each]
  return keys.length
}
