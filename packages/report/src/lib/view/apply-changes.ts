import type { Json, JsonObject } from '@episodic/protocol'
import type { StateChange } from './state-changes.ts'

/**
 * Returns a state after changes, each of what those before it left; see `changesBetween`. The given state stays as it
 * is, and what did not change is shared with the result. A change of a place that is not there is left out.
 */
export function applyChanges(state: Json, changes: readonly StateChange[]): Json {
  return changes.reduce((value: Json, change) => {
    const changed = change.path === '' ? change.after : applyAt(value, keysOf(change.path), change)
    return changed === undefined ? value : changed
  }, state)
}

export function keysOf(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The changed value; `undefined` if it has no such place. */
function applyAt(value: Json, [key, ...inner]: readonly string[], change: StateChange): Json | undefined {
  if (key === undefined || typeof value !== 'object' || value === null) return undefined
  if (isList(value)) return applyInList(value, Number(key), inner, change)
  const object = value as JsonObject
  const { after } = change
  if (inner.length > 0) {
    const changed = Object.hasOwn(object, key) ? applyAt(object[key] as Json, inner, change) : undefined
    return changed === undefined ? undefined : { ...object, [key]: changed }
  }
  if (after !== undefined) return { ...object, [key]: after }
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key))
}

function applyInList(
  list: readonly Json[],
  index: number,
  inner: readonly string[],
  { path, before, after }: StateChange,
): Json | undefined {
  if (!Number.isInteger(index) || index < 0 || index > list.length) return undefined
  if (inner.length === 0 && before === undefined && after !== undefined) return list.toSpliced(index, 0, after)
  if (index === list.length) return undefined
  if (inner.length === 0) return after === undefined ? list.toSpliced(index, 1) : list.with(index, after)
  const changed = applyAt(list[index] as Json, inner, {
    path,
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
  })
  return changed === undefined ? undefined : list.with(index, changed)
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
