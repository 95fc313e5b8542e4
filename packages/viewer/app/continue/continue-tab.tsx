import { useEffect } from 'preact/hooks'
import { OpeningEntry } from '../episode/opening-entry.tsx'
import { StepEntry } from '../episode/step-entry.tsx'
import { WhenLoaded } from '../parts/notes.tsx'
import { formatRoute } from '../route/route.ts'
import { useRoute } from '../route/use-route.ts'
import { useLoaded } from '../source/use-source.ts'
import { ContinueForm } from './continue-form.tsx'
import { ContinuedRuns } from './continued-runs.tsx'
import { SEARCH } from './loss-search.tsx'
import type { ContinueTabProps } from './play-context.ts'
import { useContinued } from './use-continued.ts'

export function ContinueTab({ run, row, model, step, states }: ContinueTabProps) {
  const { play, continued, version, look } = useContinued(run, model.record.seal)
  const offer = useLoaded(() => play('offer', run, {}), [run])
  // Who opened it with a key goes on with keys.
  useEffect(() => document.getElementById('continue-player')?.focus({ preventScroll: true }), [offer.value === null])
  const own = continued.filter(({ changed }) => changed !== SEARCH)
  return (
    <div class="continue">
      <section class="frame continue-step" aria-label="The step">
        {step === null ? (
          <OpeningEntry model={model} />
        ) : (
          <StepEntry model={model} index={step} states={states} isChosen onChoose={() => {}} />
        )}
      </section>
      <WhenLoaded of={offer}>
        {(value) => (
          <ContinueForm key={`${row} ${step}`} {...{ run, row, model, step, play, offer: value }} onPlayed={look} />
        )}
      </WhenLoaded>
      <section class="continued" aria-label="Continuations">
        {own.length === 0 && <p class="nothing">Nothing was continued from this episode yet.</p>}
        {own.map((one) => (
          <ContinuedRuns
            key={one.name}
            {...{ continuation: one, task: model.record.task.id, version }}
            onStop={() => play('stop', run, { name: one.name }).then(look)}
          />
        ))}
      </section>
    </div>
  )
}

export function ContinueLink({ step }: Pick<ContinueTabProps, 'step'>) {
  const route = useRoute()
  if (route.screen !== 'episode' || route.tab === 'continue') return null
  return (
    <a class="continue-here" href={formatRoute({ ...route, step, tab: 'continue' })}>
      Continue from here
    </a>
  )
}
