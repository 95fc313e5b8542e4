/** The tables of a database, each with its rows by their ids. */
export type Tables<T> = { readonly [Name in keyof T]: Record<string, T[Name]> }

/** A database as rules see it. */
export interface Rows<T> {
  /** Finds a row as it is now. It is not to be changed. */
  read<Name extends keyof T>(table: Name, id: string): T[Name] | undefined
  /** Returns a row that `read` finds, to be changed; if it finds none, adds this one. */
  edit<Name extends keyof T>(table: Name, id: string, added?: T[Name]): T[Name]
}

/**
 * Returns a database that all sessions share with the rows over it that a session has changed, or added. A row is
 * copied when it is changed first.
 */
export function rowsOver<T>(shared: Tables<T>, changed: Tables<T>): Rows<T> {
  return {
    read: (table, id) => rowOf(changed[table], id) ?? rowOf(shared[table], id),
    edit: (table, id, added) => {
      const rows: Record<string, T[typeof table]> = changed[table]
      rows[id] ??= added ?? structuredClone(shared[table][id] as T[typeof table])
      return rows[id]
    },
  }
}

/** Returns the rows that are others than at the start, printed: each table with the texts of its rows by their ids. */
export function printChanges<T>(shared: Tables<T>, changed: Tables<T>, print: (row: object) => string) {
  const before = shared as Tables<Record<string, object>>
  const printed = Object.entries(changed as Tables<Record<string, object>>).map(([table, rows]) => {
    const texts = Object.entries(rows).map(([id, row]) => [id, print(row)] as const)
    const isOther = ([id, text]: readonly [string, string]) => text !== print(before[table]?.[id] ?? {})
    return [table, Object.fromEntries(texts.filter(isOther))] as const
  })
  return Object.fromEntries(printed)
}

export function rowOf<Row>(table: Readonly<Record<string, Row>>, id: string): Row | undefined {
  return Object.hasOwn(table, id) ? table[id] : undefined
}

/** Makes a value immutable at every depth, so that all sessions may share it, and returns it. */
export function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(Object.freeze(value))) freeze(inner)
  return value
}
