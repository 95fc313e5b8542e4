import { formatCount } from '@episodic/report/text/format'
import { useContext } from 'preact/hooks'
import { FoldsContext } from './folds.tsx'
import { FoundContext, FoundText } from './found-text.tsx'
import { countMatches } from './matches.ts'

const MOST_CHARACTERS = 1_400
const MOST_LINES = 18

interface LongTextProps {
  readonly id: string
  readonly text: string
  /** Whether a program has printed it, so that its letters have one width. Default: whether it looks like a grid. */
  readonly isOutput?: boolean
}

/** Of a long text the start is shown until it is opened, or found in the rest. */
export function LongText({ id, text, isOutput }: LongTextProps) {
  const folds = useContext(FoldsContext)
  const wanted = useContext(FoundContext)
  const start = startOf(text)
  const look = isOutput || hasGrid(start) ? 'text wrap grid-text mono' : 'text wrap'
  if (start === text)
    return (
      <div class={look}>
        <FoundText text={text} />
      </div>
    )
  const found = wanted !== '' && countMatches([text], wanted) > countMatches([start], wanted)
  const isOpen = found || folds.isOpen(id, false)
  return (
    <div class={look}>
      <FoundText text={isOpen ? text : start} />
      {!isOpen && ' … '}
      <button type="button" class="bare text-more" aria-expanded={isOpen} onClick={() => folds.set(id, !isOpen)}>
        {isOpen ? 'show less' : `all ${formatCount(text.length)} characters`}
      </button>
    </div>
  )
}

function startOf(text: string): string {
  let end = -1
  for (let line = 0; line < MOST_LINES; line++) {
    end = text.indexOf('\n', end + 1)
    if (end < 0) break
  }
  const most = end < 0 ? text.length : end
  // A little more is not worth a button.
  if (most <= MOST_CHARACTERS * 1.2 && text.length - most < 80) return text
  return text.slice(0, Math.min(most, MOST_CHARACTERS)).toWellFormed()
}

/** Lines of equal length that make a text a grid. */
const LEAST_LINES = 3
const MOST_WIDTH = 100

/** Whether a text is a map or a board of characters, whose columns need letters of one width. */
export function hasGrid(text: string): boolean {
  let [equal, width] = [0, 0]
  for (const line of text.split('\n')) {
    equal = line.length === width ? equal + 1 : 1
    width = line.length
    if (equal >= LEAST_LINES && width > 1 && width <= MOST_WIDTH) return true
  }
  return /[│─┌┐└┘├┤┬┴┼║═]|\+-{2,}\+|^\|.*\|$/m.test(text)
}
