import type { JsonObject } from '@episodic/protocol'
import type { Column, Dictionaries } from './columns.ts'
import { packArrays, unpackArrays } from './packed-arrays.ts'
import type { Row } from './row.ts'
import { createRowColumns, type LinePlace, type PackedRows, placeIn, rowIn, STORED_NAMES } from './row-columns.ts'

/** The values of some lines, to be packed: for a file, or for another thread. */
export interface RowBatch {
  readonly size: number
  add(row: Row, place: LinePlace): void
  pack(about: JsonObject): Uint8Array<ArrayBuffer>
}

export interface UnpackedRows extends PackedRows {
  readonly about: JsonObject
  row(index: number): Row
  place(index: number): LinePlace
}

interface Header {
  readonly about: JsonObject
  readonly rows: number
  readonly dictionaries: Dictionaries
  readonly tasks: readonly string[]
}

export function createRowBatch(): RowBatch {
  const columns = createRowColumns()
  return {
    get size() {
      return columns.size
    },
    add: (row, place) => void columns.push(row, place),
    pack(about) {
      const { columns: arrays, ...rows } = columns.all()
      const header: Header = { about, ...rows, tasks: columns.tasks }
      return packArrays({ header: header as unknown as JsonObject, arrays })
    },
  }
}

/** Returns the rows in bytes of {@link RowBatch.pack}. Throws a `RangeError` for other or incomplete bytes. */
export function unpackRows(bytes: Uint8Array): UnpackedRows {
  const { header, arrays } = unpackArrays(bytes)
  const { about, rows: size, dictionaries, tasks } = header as unknown as Header
  const earnings = dictionaries?.terms.map((name) => `term.${name}`) ?? []
  if (!dictionaries || [...earnings, ...STORED_NAMES].some((name) => !arrays[name]))
    throw new RangeError('These packed arrays are no rows of a run.')
  const values = arrays as Record<string, Column>
  const words = { ...dictionaries, tags: dictionaries.tags.map((set) => JSON.stringify(set)) }
  const terms = dictionaries.terms.map((name) => [name, values[`term.${name}`] as Column] as const)
  return {
    about,
    size,
    tasks,
    dictionaries,
    columns: values,
    row: (index) => rowIn(values, tasks, (name, number) => words[name][number], terms, index),
    place: (index) => placeIn(values, index),
  }
}
