/**
 * Sorts rows by a number of each. Rows without one come last in both directions, and equal ones stay in their order.
 *
 * @returns a new list.
 */
export function sortRows(rows: Uint32Array, numberOf: (row: number) => number, descending: boolean): Uint32Array {
  const keys = Float64Array.from(rows, numberOf)
  const known: number[] = []
  const unknown: number[] = []
  for (let i = 0; i < keys.length; i++) (Number.isNaN(keys[i]) ? unknown : known).push(i)
  const order = Uint32Array.from(known)
  if (descending) order.sort((a, b) => (keys[b] as number) - (keys[a] as number) || a - b)
  else order.sort((a, b) => (keys[a] as number) - (keys[b] as number) || a - b)
  const sorted = new Uint32Array(rows.length)
  order.forEach((i, at) => {
    sorted[at] = rows[i] as number
  })
  unknown.forEach((i, at) => {
    sorted[order.length + at] = rows[i] as number
  })
  return sorted
}

/** What a list is sorted by: a field of a query, in its address with `-` before it for the highest first. */
export interface Order {
  readonly field: string
  readonly descending: boolean
}

export function parseOrder(text: string): Order | null {
  const descending = text.startsWith('-')
  const field = descending ? text.slice(1) : text
  return field === '' ? null : { field, descending }
}

export function formatOrder(order: Order | null): string {
  return order ? `${order.descending ? '-' : ''}${order.field}` : ''
}

/** The order after a click on the head of a column: the highest first, then the lowest, then that of the file. */
export function nextOrder(order: Order | null, field: string): Order | null {
  if (order?.field !== field) return { field, descending: true }
  return order.descending ? { field, descending: false } : null
}
