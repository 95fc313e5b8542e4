export interface JsonLine {
  /** Counted from 1. */
  readonly line: number
  /** Without its newline. Bytes that are not UTF-8 are read as U+FFFD. */
  readonly text: string
  /** Whether it has bytes that are not UTF-8. Default: no. */
  readonly garbled?: boolean
  /** Whether the file ends here without a newline: the writer may have been stopped in the middle of the line. */
  readonly torn: boolean
}

/** A line that was parsed: its value in a box, because `null` is JSON too, or why it has none. */
export type ParsedLine = { readonly value: unknown } | { readonly problem: string }

/**
 * Parses a line of JSON. A whole number that JavaScript would round is a problem, and so are bytes that are not UTF-8,
 * and the start of a longer document.
 */
export function parseJson({ text, torn, garbled }: JsonLine): ParsedLine {
  // A line that was cut short may end in the middle of a letter.
  if (garbled && !torn) return { problem: GARBLED }
  try {
    const rounded = LONG_NUMBER.test(text) ? roundedNumber(text) : null
    if (rounded === null && !text.trimStart().startsWith('[')) {
      const value: unknown = JSON.parse(text)
      return garbled ? { problem: GARBLED } : { value }
    }
    if (rounded !== null) return { problem: `the number ${rounded} would be rounded: write it as a text` }
  } catch {
    if ((torn || text.trim() !== '{') && !text.trimStart().startsWith('[')) return { problem: NOT_JSON }
  }
  return { problem: WHOLE_DOCUMENT }
}

export const NOT_JSON = 'this is not JSON'
/** The problem of a file in another encoding. Its other lines are likely to have it too. */
const GARBLED =
  'it has bytes that are not UTF-8, as a file in Latin-1 has. iconv -f WINDOWS-1252 -t UTF-8 writes the file anew'
/** The problem of a file that is one JSON document, such as a list. Nothing after it can be read. */
const WHOLE_DOCUMENT =
  'the file is one JSON document, and tasks are one JSON object in each line. For a list, jq -c ".[]" writes it so'

/** Problems of a whole file: they are reported once. */
export const OF_THE_FILE: readonly string[] = [GARBLED, WHOLE_DOCUMENT]

/** Shorter ones are exact. Only a line with a longer one is looked through. */
const LONG_NUMBER = /\d{16}/

function roundedNumber(text: string): string | null {
  let found: string | null = null
  JSON.parse(text, function find(_, value, context?: { readonly source?: string }) {
    const source = context?.source ?? ''
    if (typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)) found ??= source
    return value
  } as Parameters<typeof JSON.parse>[1])
  return found
}
