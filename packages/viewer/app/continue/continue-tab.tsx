import type { AskToPlay } from '@episodic/report/view/continuations'
import { useEffect, useState } from 'preact/hooks'
import { OpeningEntry } from '../episode/opening-entry.tsx'
import { StepEntry } from '../episode/step-entry.tsx'
import { WhenLoaded } from '../parts/notes.tsx'
import { formatRoute } from '../route/route.ts'
import { useRoute } from '../route/use-route.ts'
import { useLoaded, useSource, useVersion } from '../source/use-source.ts'
import { ContinueForm } from './continue-form.tsx'
import { ContinuedRuns } from './continued-runs.tsx'
import type { ContinueTabProps } from './play-context.ts'

/** Milliseconds between two looks at what is being played. */
const LOOK_INTERVAL = 700

/** A step of an episode, what can be changed there, and how it went on. */
export function ContinueTab({ run, row, model, step, states }: ContinueTabProps) {
  const play = useSource().play as AskToPlay
  const [looks, setLooks] = useState(0)
  const version = useVersion(null) + looks
  const look = () => setLooks((before) => before + 1)
  const offer = useLoaded(() => play('offer', run, {}), [run])
  const continued = useLoaded(() => play('list', run, {}), [run], version)
  const own = continued.value?.filter(({ seal }) => seal === model.record.seal) ?? []
  const isPlaying = own.some((one) => one.isPlaying)
  useEffect(() => {
    if (!isPlaying) return
    const looking = setInterval(look, LOOK_INTERVAL)
    return () => clearInterval(looking)
  }, [isPlaying])
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
