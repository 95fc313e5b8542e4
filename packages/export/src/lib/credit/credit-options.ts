import type { advantages } from '@episodic/env/advantages'
import { formatCount, plural } from '@episodic/report/text/format'
import { invalidOption } from '@episodic/run/base/harness-error'
import { option } from '@episodic/run/base/options'
import { z } from 'zod'
import type { ExportFormat } from '../export-format.ts'
import type { GroupCredit } from './answer-credit.ts'

export type CreditOptions = NonNullable<Parameters<typeof advantages>[1]>

const FORMS: readonly string[] = ['state', 'gigpo', 'rtmc'] satisfies CreditOptions['form'][]

export const CREDIT_HELP = `
Advantages:
  state          what it leads to less what its state is worth, by what rollouts
                 earned from there on, and the advantage of the episode
  gigpo, rtmc    the same as these methods have it
  Weights and flags follow: state:episode=0.5,state=1,time-left,deviation`

export const creditOption = option(
  '<form>',
  'what each answer was worth by the states that rollouts share, see below. For trl, sequences',
  z
    .string()
    .refine((text) => readCreditOptions(text) !== null, 'Allowed are state, gigpo and rtmc, see --help.')
    .optional(),
)

/** Reads that option for a format. Throws HarnessError `option-invalid` if the format has no place for advantages. */
export function creditFor(text: string | undefined, { hasCredit }: ExportFormat): CreditOptions | null {
  if (text === undefined) return null
  if (!hasCredit) throw invalidOption('This format has no advantages. Leave --advantages out, or export as sequences.')
  return readCreditOptions(text)
}

/** Returns `null` for what is no form. */
function readCreditOptions(text: string): CreditOptions | null {
  const [form = '', words] = text.split(/:(.*)/s)
  if (!FORMS.includes(form)) return null
  let options: CreditOptions = { form: form as NonNullable<CreditOptions['form']> }
  for (const word of words?.split(',') ?? []) {
    const [, name, weight] = /^(episode|state)=(-?\d+(?:\.\d+)?)$/.exec(word) ?? []
    if (name === 'episode') options = { ...options, episodeWeight: Number(weight) }
    else if (name === 'state') options = { ...options, stateWeight: Number(weight) }
    else if (word === 'time-left') options = { ...options, timeLeft: true }
    else if (word === 'deviation') options = { ...options, deviation: true }
    else return null
  }
  return options
}

/** Says how many answers met a shared state: without any, states say nothing that the episodes do not. */
export function formatCredit({ groups, answers, shared }: GroupCredit['counts']): string {
  const met = `${formatCount(shared)} of ${plural(answers, 'answer')} in ${plural(groups, 'group')}`
  return shared > 0
    ? `${met} were given, after the start, in a state in which another one was given.`
    : `${met} were given in a state of another one, after the start: the advantages are those of the episodes alone. Play more rollouts of each task, or fork them (--branch).`
}
