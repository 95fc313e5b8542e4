import type { Json } from '@episodic/protocol'
import { Instance, type PythonClass, type Value } from '../interpreter/objects.ts'
import { float } from '../python/value.ts'

/** The parts of an environment whose classes have methods, and these classes. */
const CLASSES: Readonly<Record<string, string>> = {
  ...{ inbox: 'Inbox', calendar: 'Calendar', cloud_drive: 'CloudDrive', hotels: 'Hotels' },
}

/** Fields whose values are no texts and no ints in the original, and how they are made. */
const TYPES: Readonly<Record<string, (value: Json) => Value>> = {
  ...Object.fromEntries(
    ['timestamp', 'start_time', 'end_time', 'last_modified', 'current_day'].map((name) => [
      name,
      ($time) => ({ $time }),
    ]),
  ),
  ...Object.fromEntries(
    ['amount', 'balance', 'rating', 'price', 'price_min', 'price_max', 'price_per_person', 'price_per_day'].map(
      (name) => [name, (value: Json) => float(Number(value))],
    ),
  ),
}

/** Returns an environment as the code of its tasks sees it: what it changes there stays there. */
export function modelsOf(state: Json, classOf: (name: string) => PythonClass): Record<string, Value> {
  const parts = Object.entries(typed(state) as object).map(([name, part]) => {
    const model = CLASSES[name]
    return [name, model ? new Instance(classOf(model), part) : part] as const
  })
  return Object.fromEntries(parts)
}

function typed(value: Json): Value {
  if (Array.isArray(value)) return value.map(typed)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, part]) => [name, TYPES[name]?.(part as Json) ?? typed(part as Json)])
  return Object.fromEntries(fields)
}
