import type { RunEntry } from '@episodic/report'
import { plain } from '../parts/plain-text.tsx'
import { plainString } from '../parts/signs.ts'
import { openRoute } from '../route/use-route.ts'

interface RunChooserProps {
  readonly chosen: readonly string[]
  readonly base: string
  readonly all: readonly RunEntry[]
}

export function RunChooser({ chosen, base, all }: RunChooserProps) {
  const entryOf = (id: string) => all.find((run) => run.id === id)
  const worlds = new Set(chosen.flatMap((id) => entryOf(id)?.environments ?? []))
  const others = all.filter(
    ({ id, environments }) =>
      !chosen.includes(id) && (worlds.size === 0 || environments.some((world) => worlds.has(world))),
  )
  const open = (runs: readonly string[], baseline: string) =>
    openRoute({ screen: 'compare', runs, base: runs.includes(baseline) ? baseline : (runs[0] ?? '') })
  return (
    <div class="chooser flow mid tight">
      <label>
        Baseline{' '}
        <select value={base} onChange={(event) => open(chosen, event.currentTarget.value)}>
          {chosen.map((id) => (
            <option key={id} value={id}>
              {plainString(entryOf(id)?.name ?? id)}
            </option>
          ))}
        </select>
      </label>
      {chosen
        .filter((id) => id !== base)
        .map((id) => (
          <button
            key={id}
            type="button"
            class="pill"
            title="leave this run out"
            onClick={() =>
              open(
                chosen.filter((other) => other !== id),
                base,
              )
            }
          >
            {plain(entryOf(id)?.name ?? id)} ×
          </button>
        ))}
      {others.length > 0 && (
        <label>
          Add{' '}
          <select value="" onChange={(event) => open([...chosen, event.currentTarget.value], base)}>
            <option value="">a run …</option>
            {others.map(({ id, name }) => (
              <option key={id} value={id}>
                {plainString(name)}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  )
}
