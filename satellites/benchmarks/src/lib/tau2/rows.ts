/** The tables of a database by name, each with its rows by their ids. */
export type Tables = { readonly [name: string]: object }

/** A database that was read once: no session changes it. */
export type SharedTables<T extends Tables> = { readonly [Name in keyof T]: Readonly<Record<string, T[Name]>> }

/** The rows of a database that a session has changed, or added. */
export type ChangedRows<T extends Tables> = { readonly [Name in keyof T]: Record<string, T[Name]> }

/** A database as rules see it. */
export interface Rows<T extends Tables> {
  /** Finds a row as it is now. It is not to be changed. */
  read<Name extends keyof T>(table: Name, id: string): T[Name] | undefined
  /** Returns a row that `read` finds, to be changed. */
  edit<Name extends keyof T>(table: Name, id: string): T[Name]
}

/** Returns a shared database with the changed rows of a session over it. A row is copied when it is changed first. */
export function rowsOver<T extends Tables>(shared: SharedTables<T>, changed: ChangedRows<T>): Rows<T> {
  return {
    read: (table, id) => rowOf(changed[table], id) ?? rowOf(shared[table], id),
    edit<Name extends keyof T>(table: Name, id: string) {
      const rows: Record<string, T[Name]> = changed[table]
      if (!rowOf(rows, id)) rows[id] = structuredClone(shared[table][id] as T[Name])
      return rows[id] as T[Name]
    },
  }
}

/** The texts of rows at the start, which no session changes. */
const printedBefore = new WeakMap<object, string>()

/** Returns the rows that are others than at the start, printed: each table with the texts of its rows by their ids. */
export function printChanges<T extends Tables>(
  shared: SharedTables<T>,
  changed: ChangedRows<T>,
  print: (row: object) => string,
): Record<string, Record<string, string>> {
  const printed = Object.entries<Record<string, object>>(changed).map(([table, rows]) => {
    const texts = Object.entries(rows).map(([id, row]) => [id, print(row)] as const)
    const isOther = ([id, text]: readonly [string, string]) => {
      const before = shared[table]?.[id]
      if (before && !printedBefore.has(before)) printedBefore.set(before, print(before))
      return before === undefined || printedBefore.get(before) !== text
    }
    return [table, Object.fromEntries(texts.filter(isOther))]
  })
  return Object.fromEntries(printed)
}

/** Returns the row of a table, or `undefined`. */
export function rowOf<Row>(table: Readonly<Record<string, Row>>, id: string): Row | undefined {
  return Object.hasOwn(table, id) ? table[id] : undefined
}

/** Makes a value immutable at every depth, so that all sessions may share it, and returns it. */
export function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(Object.freeze(value))) freeze(inner)
  return value
}
