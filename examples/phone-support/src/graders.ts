import { defineGrader } from '@episodic/harness'

const COURTEOUS = /\b(please|thank|thanks|sorry|welcome)\b/i
const RUDE = /\b(stupid|idiot|shut up|nonsense)\b/i

/** Whether the agent asks politely, in what it says to the customer. Undecided if it says nothing. */
const polite = defineGrader({
  name: 'polite',
  version: '1',
  scale: 'boolean',
  grade({ steps }) {
    const said = steps.flatMap(({ action: { tool, arguments: args } }, step) =>
      tool === 'say' && typeof args.text === 'string' ? [{ step, quote: args.text }] : [],
    )
    if (said.length === 0) return { value: null, why: 'The agent said nothing.' }
    const rude = said.filter(({ quote }) => RUDE.test(quote))
    if (rude.length > 0) return { value: false, why: 'The agent is rude.', evidence: rude }
    const courteous = said.filter(({ quote }) => COURTEOUS.test(quote))
    return courteous.length > 0
      ? { value: true, why: 'The agent is courteous.', evidence: courteous }
      : { value: false, why: 'The agent says no courteous word.', evidence: said }
  },
})

export const graders = { polite }
