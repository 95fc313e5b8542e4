import type { RunDetail } from '@episodic/report'
import { CommandLine } from '../parts/copy.tsx'
import { PlainText } from '../parts/plain-text.tsx'

/** Says why a run stopped before its end, and what plays the rest. Nothing if neither is known. */
export function StopNote({ detail: { entry, commands } }: { readonly detail: Pick<RunDetail, 'entry' | 'commands'> }) {
  const { state, stopped } = entry
  if (state !== 'stopped' || (!stopped && !commands.resume)) return null
  return (
    <section class="stop-note" aria-label="Why the run stopped">
      {stopped && (
        <p>
          <PlainText text={stopped.message} /> <code>{stopped.code}</code>
        </p>
      )}
      {commands.resume && (
        <>
          <p class="muted">To play the episodes that are left:</p>
          <CommandLine command={commands.resume} />
        </>
      )}
    </section>
  )
}
