import { createBoundedMap } from '../fold/bounded-map.ts'
import { COLUMN_TYPES, type Column, type Dictionaries, type EpisodeColumns, type TermColumn } from './columns.ts'
import type { Row } from './row.ts'

/** Where the line of a row stands in the file of a run, and its hash. */
export interface LinePlace {
  readonly offset: number
  /** In bytes, without the line break. */
  readonly length: number
  /** A hash of the line's content, an integer up to 2^52: equal for equal lines. */
  readonly content: number
}

export interface PackedRows {
  readonly size: number
  readonly tasks: readonly string[]
  readonly dictionaries: Dictionaries
  readonly columns: { readonly [name in StoredName | TermColumn]?: Column }
}

export type RowColumns = ReturnType<typeof createRowColumns>

/** Most reward terms that have a column: of more, the first ones by name. */
const MOST_TERMS = 64
/** Most words of a dictionary; number 0 stands for the others. */
const MOST_WORDS = 65_535
const OTHER = 'other'

type FixedName = keyof typeof COLUMN_TYPES
const FIXED_NAMES = Object.keys(COLUMN_TYPES) as FixedName[]
/** The columns of a store: those of the episodes, and where their lines stand. */
const STORED_TYPES = {
  ...COLUMN_TYPES,
  'line.offset': Float64Array,
  'line.length': Uint32Array,
  'line.content': Float64Array,
} as const
type StoredName = keyof typeof STORED_TYPES
export const STORED_NAMES = Object.keys(STORED_TYPES) as StoredName[]
const WORD_COLUMNS = ['ending', 'player', 'tags', 'version'] as const

/** Creates columns without a row. They take about 200 bytes a row, and 8 for each reward term. */
export function createRowColumns() {
  let size = 0
  let capacity = 1_024
  const fixed = Object.fromEntries(
    STORED_NAMES.map((name) => [name, new STORED_TYPES[name](capacity)]),
  ) as unknown as Record<StoredName, Column>
  const terms = createBoundedMap(MOST_TERMS, () => ({ values: new Float64Array(capacity).fill(Number.NaN) }))
  const words = {
    ending: createWords(OTHER),
    player: createWords(OTHER),
    tags: createWords('[]'),
    version: createWords(''),
  }
  const taskNumbers = new Map<string, number>()
  const tasks: string[] = []

  const grow = () => {
    capacity *= 2
    for (const name of STORED_NAMES) {
      const values = new STORED_TYPES[name](capacity)
      values.set(fixed[name])
      fixed[name] = values
    }
    for (const [, term] of terms.entries()) {
      const values = new Float64Array(capacity).fill(Number.NaN)
      values.set(term.values)
      term.values = values
    }
  }
  const numberOfTask = (id: string): number => {
    const known = taskNumbers.get(id)
    if (known !== undefined) return known
    taskNumbers.set(id, tasks.length)
    return tasks.push(id) - 1
  }
  const copyOf = (name: string): Column | null => {
    if (Object.hasOwn(fixed, name)) return fixed[name as StoredName].slice(0, size)
    const term = name.startsWith('term.') && terms.entries().find(([term]) => name === `term.${term}`)
    return term ? term[1].values.slice(0, size) : null
  }
  const termNames = () => terms.entries().map(([name]) => `term.${name}`)
  const copies = (names: readonly string[]) => ({
    rows: size,
    dictionaries: {
      ending: words.ending.list(),
      player: words.player.list(),
      tags: words.tags.list().map((text) => JSON.parse(text) as string[]),
      version: words.version.list(),
      terms: terms.entries().map(([name]) => name),
    },
    columns: Object.fromEntries(
      names.flatMap((name) => {
        const values = copyOf(name)
        return values ? [[name, values] as const] : []
      }),
    ) as { readonly [name: string]: Column },
  })

  return {
    get size() {
      return size
    },
    tasks: tasks as readonly string[],
    taskNumber: (id: string) => taskNumbers.get(id),
    /** Adds a row, which counts until it is set otherwise. Returns its number. */
    push(row: Row, place: LinePlace): number {
      if (size === capacity) grow()
      for (const name of FIXED_NAMES) {
        if (name === 'counts') fixed.counts[size] = 1
        else if (name === 'task') fixed.task[size] = numberOfTask(row.task)
        else if (isWordColumn(name)) fixed[name][size] = words[name].numberOf(row[name])
        else fixed[name][size] = row[name]
      }
      for (const part of ['offset', 'length', 'content'] as const) fixed[`line.${part}`][size] = place[part]
      for (const name in row.terms) {
        const term = terms.of(name)
        if (term) term.values[size] = row.terms[name] as number
      }
      return size++
    },
    pushAll(rows: PackedRows) {
      const to = size + rows.size
      while (to > capacity) grow()
      const own = rows.dictionaries
      const numbers = {
        task: rows.tasks.map(numberOfTask),
        ending: words.ending.numbersOf(own.ending),
        player: words.player.numbersOf(own.player),
        tags: words.tags.numbersOf(own.tags.map((tags) => JSON.stringify(tags))),
        version: words.version.numbersOf(own.version),
      }
      for (const name of STORED_NAMES) {
        const values = rows.columns[name] as Column
        if (name === 'counts') fixed.counts.fill(1, size, to)
        else if (name === 'task' || isWordColumn(name))
          for (let row = 0; row < rows.size; row++) fixed[name][size + row] = numbers[name][values[row] as number] ?? 0
        else fixed[name].set(values, size)
      }
      for (const name of own.terms) terms.of(name)?.values.set(rows.columns[`term.${name}`] as Column, size)
      size = to
    },
    /** Removes the rows from a number on. Words that only they had stay in the dictionaries. */
    cut(to: number) {
      for (const [, term] of terms.entries()) term.values.fill(Number.NaN, to, size)
      size = to
    },
    at: (name: FixedName, row: number) => fixed[name][row] as number,
    setCounts(row: number, counts: boolean) {
      fixed.counts[row] = Number(counts)
    },
    place: (row: number) => placeIn(fixed, row),
    row: (row: number) =>
      rowIn(
        fixed,
        tasks,
        (name, number) => words[name].word(number),
        terms.entries().map(([name, { values }]) => [name, values]),
        row,
      ),
    /** Copies of columns. Default: all. Names that no column has are left out. */
    columns: (names: readonly string[] = [...FIXED_NAMES, ...termNames()]): EpisodeColumns =>
      copies(names.filter((name) => !name.startsWith('line.'))),
    all: () => copies([...STORED_NAMES, ...termNames()]),
  }
}

export function placeIn(columns: PackedRows['columns'], row: number): LinePlace {
  const at = (part: keyof LinePlace) => columns[`line.${part}`]?.[row] as number
  return { offset: at('offset'), length: at('length'), content: at('content') }
}

export function rowIn(
  columns: PackedRows['columns'],
  tasks: readonly string[],
  wordOf: (name: (typeof WORD_COLUMNS)[number], number: number) => string | undefined,
  terms: readonly (readonly [name: string, values: Column])[],
  row: number,
): Row {
  const values = {} as Record<string, unknown>
  for (const name of FIXED_NAMES) values[name] = columns[name]?.[row]
  for (const name of WORD_COLUMNS) values[name] = wordOf(name, values[name] as number)
  values.task = tasks[values.task as number]
  const earned = terms.filter(([, sums]) => !Number.isNaN(sums[row])).map(([name, sums]) => [name, sums[row]])
  return { ...values, terms: Object.fromEntries(earned) } as unknown as Row
}

function isWordColumn(name: StoredName): name is (typeof WORD_COLUMNS)[number] {
  return (WORD_COLUMNS as readonly string[]).includes(name)
}

/** Numbers words from 1, in the order in which they come; 0 stands for those beyond the bound. */
function createWords(other: string) {
  const numbers = new Map<string, number>()
  const list = [other]
  const numberOf = (word: string): number => {
    const known = numbers.get(word)
    if (known !== undefined) return known
    if (list.length > MOST_WORDS) return 0
    numbers.set(word, list.length)
    return list.push(word) - 1
  }
  return {
    numberOf,
    numbersOf: (words: readonly string[]) => words.map((word, number) => (number === 0 ? 0 : numberOf(word))),
    word: (number: number) => list[number] ?? other,
    list: () => [...list],
  }
}
