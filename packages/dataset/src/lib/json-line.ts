/** One line of a JSONL file. */
export interface JsonLine {
  /** Counted from 1. */
  readonly line: number
  /** Without its newline. Bytes that are not UTF-8 are read as U+FFFD, which content ids and seals detect. */
  readonly text: string
  /** Whether the file ends here without a newline: the writer may have been stopped in the middle of the line. */
  readonly torn: boolean
}

/** A line that was parsed: its value in a box, because `null` is JSON too, or why it has none. */
export type ParsedLine = { readonly value: unknown } | { readonly problem: string }

/**
 * Parses a line of JSON. A whole number that JavaScript would round is a problem, and so is the start of a longer
 * document.
 */
export function parseJson({ text, torn }: JsonLine): ParsedLine {
  try {
    const rounded = LONG_NUMBER.test(text) ? roundedNumber(text) : null
    if (rounded === null && !text.trimStart().startsWith('[')) return { value: JSON.parse(text) }
    if (rounded !== null) return { problem: `the number ${rounded} would be rounded: write it as a text` }
  } catch {
    if ((torn || text.trim() !== '{') && !text.trimStart().startsWith('[')) return { problem: NOT_JSON }
  }
  return { problem: WHOLE_DOCUMENT }
}

export const NOT_JSON = 'this is not JSON'
/** The problem of a file that is one JSON document, such as a list. Nothing after it can be read. */
export const WHOLE_DOCUMENT =
  'the file is one JSON document, and tasks are one JSON object in each line. For a list, jq -c ".[]" writes it so'

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
