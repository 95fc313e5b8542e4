import { formatCount } from '@episodic/report'
import { useMemo, useState } from 'preact/hooks'
import { countMatches } from '../parts/matches.ts'
import type { EpisodeModel } from './episode-model.ts'
import { textsOfEntry } from './searched-texts.ts'

interface FindBarProps {
  readonly model: EpisodeModel
  readonly find: string
  readonly onFind: (find: string) => void
  /** Scrolls to an entry. */
  readonly onEntry: (entry: number) => void
}

/** Finds a text in all entries of a transcript: those that are not rendered too, which the browser does not find. */
export function FindBar({ model, find, onFind, onEntry }: FindBarProps) {
  const [at, setAt] = useState(-1)
  const texts = useMemo(
    () => (find ? Array.from({ length: model.shown.steps.length + 2 }, (_, entry) => textsOfEntry(model, entry)) : []),
    [model, find !== ''],
  )
  const found = useMemo(() => {
    const counts = texts.map((some) => countMatches(some, find))
    return {
      entries: [...counts.keys()].filter((entry) => (counts[entry] ?? 0) > 0),
      count: counts.reduce((a, b) => a + b, 0),
    }
  }, [texts, find])
  const move = (by: number) => {
    const { entries } = found
    if (entries.length === 0) return
    const next = at < 0 ? (by > 0 ? 0 : entries.length - 1) : (at + by + entries.length) % entries.length
    setAt(next)
    onEntry(entries[next] as number)
  }
  return (
    <search class="find-bar">
      <input
        id="find-in-episode"
        type="search"
        placeholder="Find in the episode"
        aria-label="Find in the episode"
        autocomplete="off"
        spellcheck={false}
        value={find}
        onInput={({ currentTarget }) => {
          setAt(-1)
          onFind(currentTarget.value)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          move(event.shiftKey ? -1 : 1)
        }}
      />
      {find !== '' && (
        <>
          <span class="muted" role="status">
            {found.count === 0
              ? 'not found'
              : `${formatCount(found.count)} in ${formatCount(found.entries.length)} entries`}
          </span>
          <button type="button" class="icon-button" aria-label="Previous match" onClick={() => move(-1)}>
            ↑
          </button>
          <button type="button" class="icon-button" aria-label="Next match" onClick={() => move(1)}>
            ↓
          </button>
        </>
      )}
    </search>
  )
}
