import type { SealedRecord } from '@episodic/protocol'
import type { SearchField } from '../view/search-hit.ts'
import { searchedTexts } from './searched-texts.ts'

export interface FoundText {
  readonly step: number | null
  readonly field: SearchField
  readonly before: string
  readonly match: string
  readonly after: string
}

const CONTEXT = 80

/**
 * Finds a text in what was asked, thought, said, called and answered in an episode, in upper and lower case, in the
 * order of the steps. Nothing is found for an empty text.
 *
 * @param fields - where to search. Default: everywhere.
 */
export function* findInRecord(
  record: SealedRecord,
  text: string,
  fields?: readonly SearchField[],
): Generator<FoundText> {
  if (text === '') return
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'), 'gi')
  for (const { step, field, text: content } of searchedTexts(record)) {
    if (fields && !fields.includes(field)) continue
    for (const { 0: match, index } of content.matchAll(pattern)) {
      const end = index + match.length
      const before = content.slice(Math.max(0, index - CONTEXT), index).toWellFormed()
      yield { step, field, before, match, after: content.slice(end, end + CONTEXT).toWellFormed() }
    }
  }
}
