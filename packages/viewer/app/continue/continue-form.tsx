import type { JsonObject } from '@episodic/protocol'
import { formatCost } from '@episodic/report/text/format'
import type { AskedContinuation, AskToPlay, Offer } from '@episodic/report/view/continuations'
import { useState } from 'preact/hooks'
import { plain } from '../parts/plain-text.tsx'
import { AskedNote } from './asked-note.tsx'
import type { ContinueTabProps } from './play-context.ts'
import { SchemaForm } from './schema-form.tsx'
import { useAsking } from './use-continued.ts'

interface ContinueFormProps extends Omit<ContinueTabProps, 'states'> {
  readonly play: AskToPlay
  readonly offer: Offer
  readonly onPlayed: () => void
}

/** What can be changed at a step. A field that stays as it is changes nothing. */
export function ContinueForm({ run, row, model, step, play, offer, onPlayed }: ContinueFormProps) {
  const { record, shown, figures } = model
  const played = step === null ? undefined : shown.steps[step]
  const before = (record.origin?.step ?? 0) + (step ?? 0)
  const [was] = useState({
    ...{ tool: played?.action.tool ?? '', args: played?.action.arguments ?? ({} as JsonObject) },
    ...{ answer: (played ?? shown.start)?.observation.text ?? '', prompt: record.task.prompt },
    ...{ system: offer.systemPrompt ?? '', policy: '', seed: '', rollouts: '8', costLimit: '' },
    file: `tests/${record.task.id.slice(0, 8)}-step-${before + 1}.test.ts`,
    described: Object.fromEntries(offer.tools.map(({ name, description }) => [name, description])),
  })
  const [form, setForm] = useState(was)
  const set = (part: Partial<typeof was>) => setForm((now) => ({ ...now, ...part }))
  const typed = (name: keyof typeof was) => (event: { readonly currentTarget: { readonly value: string } }) =>
    set({ [name]: event.currentTarget.value })
  const isChanged = (name: keyof typeof was) => JSON.stringify(form[name]) !== JSON.stringify(was[name])
  const { tool, args, answer, prompt, system, policy, seed, rollouts, described, file } = form
  const seat = played?.seat
  const isAnswerChanged = isChanged('answer')
  const isCallChanged = played !== undefined && !isAnswerChanged && (isChanged('tool') || isChanged('args'))
  const describe = Object.entries(described).filter(([name, text]) => text !== was.described[name])
  const changes: AskedContinuation['changes'] = {
    ...(isCallChanged && { call: { tool, arguments: args, ...(seat !== undefined && { seat }) } }),
    ...(isAnswerChanged && { answer }),
    ...(isChanged('prompt') && { prompt }),
    ...(describe.length > 0 && { describe: Object.fromEntries(describe) }),
    ...(seed !== '' && { seed }),
  }
  const isPlain = Object.keys(changes).length === 0 && policy === '' && !isChanged('system')
  const asksModel = (policy || figures.player).startsWith('llm:')
  const most = offer.cost === null ? null : offer.cost * Number(rollouts) * 2
  const asked: Omit<AskedContinuation, 'confirmed'> = {
    // Of another answer the step itself stays.
    ...{ row, step: before + (isAnswerChanged && played ? 1 : 0), changes, rollouts: Number(rollouts) },
    ...(policy !== '' && { policy, ...(seat !== undefined && { seat }) }),
    ...(isChanged('system') && { systemPrompt: system }),
    ...(asksModel && form.costLimit !== '' && { costLimit: Number(form.costLimit) }),
  }
  const { state, ask } = useAsking()
  const start = (confirmed: boolean) => ask(play('start', run, { ...asked, confirmed }).finally(onPlayed))
  const schema = offer.tools.find(({ name }) => name === tool)?.inputSchema ?? {}
  return (
    <form
      class="card continue-form"
      aria-label="What to change"
      onSubmit={(event) => {
        event.preventDefault()
        void start(false)
      }}
    >
      <h2>{step === null ? 'Continue from the start' : `Continue from step ${before + 1}`}</h2>
      <label>
        Player
        <select id="continue-player" value={policy} onChange={typed('policy')}>
          <option value="">as it was: {figures.player}</option>
          {offer.players.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {played && (
        <fieldset disabled={isAnswerChanged}>
          <legend>
            Action of the step {isAnswerChanged && <small class="muted">stays: another answer to it is read</small>}
          </legend>
          <label>
            Tool
            <select value={tool} onChange={({ currentTarget }) => set({ tool: currentTarget.value, args: {} })}>
              {[...new Set([was.tool, ...offer.tools.map(({ name }) => name)])].map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <SchemaForm key={tool} schema={schema} value={args} onChange={(value) => set({ args: value })} />
        </fieldset>
      )}
      <label>
        {played ? 'What the player reads of the step' : 'What the player reads first'}
        <textarea rows={1} value={answer} onInput={typed('answer')} />
      </label>
      <label>
        Task prompt
        <textarea rows={1} value={prompt} onInput={typed('prompt')} />
      </label>
      {asksModel && (
        <label>
          System prompt
          <textarea rows={1} value={system} placeholder="the usual words" onInput={typed('system')} />
        </label>
      )}
      <details open={offer.tools.length <= 3}>
        <summary>Descriptions of tools</summary>
        {offer.tools.map(({ name }) => (
          <label key={name}>
            {plain(name)}
            <textarea
              rows={1}
              value={described[name] ?? ''}
              onInput={({ currentTarget }) => set({ described: { ...described, [name]: currentTarget.value } })}
            />
          </label>
        ))}
      </details>
      <label>
        Seed of new chance
        <input value={seed} placeholder="chance goes on as it would have" onInput={typed('seed')} />
      </label>
      <div class="flow mid">
        <label>
          Continuations{isPlain ? '' : ', and as many without the change'}
          <input type="number" min={1} max={64} value={rollouts} onInput={typed('rollouts')} />
        </label>
        {asksModel && (
          <label>
            Cost at most
            <input
              {...{ type: 'number', min: 0, step: 'any', value: form.costLimit, onInput: typed('costLimit') }}
              placeholder={most === null ? 'no prices are known' : formatCost(most)}
            />
          </label>
        )}
      </div>
      <AskedNote state={state} onAgree={() => start(true)} />
      <div class="flow mid">
        <button type="submit" class="button primary" disabled={state.isBusy}>
          Play
        </button>
        <input class="save-file mono push" aria-label="File of the test" value={file} onInput={typed('file')} />
        <button
          type="button"
          class="button"
          onClick={() => ask(play('save', run, { ...asked, confirmed: false, file }))}
        >
          Save as test
        </button>
      </div>
    </form>
  )
}
