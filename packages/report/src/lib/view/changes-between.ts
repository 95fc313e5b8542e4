import type { Json, JsonObject } from '@episodic/protocol'
import type { StateChange } from './state-changes.ts'

/** Most pairs of items that are compared to find which items of two lists are the same. */
const MOST_PAIRS = 250_000

/**
 * Returns the changes that lead from one value to another; none if they are equal. Each change is of the value that the
 * changes before it left, as in a JSON Patch (RFC 6902): an item that is added to a list moves those behind it. In
 * lists that are not too long, items that are in both are not among the changes, wherever they moved to by what was
 * added and removed.
 */
export function changesBetween(before: Json, after: Json): StateChange[] {
  const changes: StateChange[] = []
  compare(before, after, '', changes)
  return changes
}

function compare(before: Json, after: Json, path: string, changes: StateChange[]): void {
  if (before === after) return
  if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, path, changes)
  else if (isObject(before) && isObject(after)) compareObjects(before, after, path, changes)
  else changes.push({ path, before, after })
}

function compareObjects(before: JsonObject, after: JsonObject, path: string, changes: StateChange[]): void {
  for (const key of Object.keys(before)) {
    const own = `${path}/${escapeKey(key)}`
    const value = before[key] as Json
    if (Object.hasOwn(after, key)) compare(value, after[key] as Json, own, changes)
    else changes.push({ path: own, before: value })
  }
  for (const key of Object.keys(after))
    if (!Object.hasOwn(before, key)) changes.push({ path: `${path}/${escapeKey(key)}`, after: after[key] as Json })
}

function compareLists(before: readonly Json[], after: readonly Json[], path: string, changes: StateChange[]): void {
  let head = 0
  const most = Math.min(before.length, after.length)
  while (head < most && isSame(before[head], after[head])) head++
  let tail = 0
  while (tail < most - head && isSame(before.at(-1 - tail), after.at(-1 - tail))) tail++
  const [old, now] = [before, after].map((list) => list.slice(head, list.length - tail).map(toText)) as [
    string[],
    string[],
  ]
  const kept = commonItems(old, now)
  // Between items that are kept, as many as possible are compared in pairs; the rest were removed or added.
  let [from, to] = [head, head]
  for (const [i, j] of [...kept, [old.length, now.length] as const]) {
    const pairs = Math.min(head + i - from, head + j - to)
    for (let pair = 0; pair < pairs; pair++)
      compare(before[from + pair] as Json, after[to + pair] as Json, `${path}/${to + pair}`, changes)
    const place = to + pairs
    for (let gone = from + pairs; gone < head + i; gone++)
      changes.push({ path: `${path}/${place}`, before: before[gone] as Json })
    for (let added = place; added < head + j; added++)
      changes.push({ path: `${path}/${added}`, after: after[added] as Json })
    from = head + i + 1
    to = head + j + 1
  }
}

/** The places of a longest common subsequence in both lists; none if the lists are too long to compare. */
function commonItems(old: readonly string[], now: readonly string[]): (readonly [number, number])[] {
  const width = now.length + 1
  if (old.length * now.length > MOST_PAIRS || old.length === 0 || now.length === 0) return []
  const longest = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number) => longest[i * width + j] as number
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      longest[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const common: (readonly [number, number])[] = []
  for (let [i, j] = [0, 0]; i < old.length && j < now.length; )
    if (old[i] === now[j]) common.push([i++, j++])
    else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  return common
}

/** Of a list in a large state, most items are the very same objects. */
function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || toText(one as Json) === toText(other as Json)
}

function toText(value: Json): string {
  return JSON.stringify(value)
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
