import { computeAgreement } from '@episodic/report/grades/agreement'
import type { Grader } from '@episodic/report/grades/grader'
import type { LabelledTurn } from './user-turns.ts'

/** Turns that a grader is asked about together. */
const AT_ONCE = 16

/** Asks a grader about each turn, as an episode whose last step is the turn, and compares it with the labels. */
export async function gradeTurns(turns: readonly LabelledTurn[], grader: Grader, say: (text: string) => void) {
  const pairs: Parameters<typeof computeAgreement>[0][number][] = []
  for (let at = 0; at < turns.length; at += AT_ONCE) {
    const graded = turns.slice(at, at + AT_ONCE).map(async ({ source, kind, sheet, prompt, said, turn }, n) => {
      const i = at + n
      const steps = [...said, { by: 'user', text: turn }].map(({ by, text }) => ({
        action: { tool: 'say', arguments: { by, text } },
        observation: { text: '', structured: null },
        ...{ refused: null, events: [] },
      }))
      const task = { id: source, prompt: `${prompt}\n${JSON.stringify(sheet)}`, difficulty: 0, tags: [] }
      const about = { task, environment: { name: 'user', version: '1' }, params: {}, seat: 'user', start: null, steps }
      const parts = { transcript: [], rewards: null, outcome: null, states: null, player: null }
      const { value } = await grader.grade({
        ...{ ...about, ...parts },
        vote: 0,
        seed: `${i}`,
        signal: new AbortController().signal,
      } as unknown as Parameters<Grader['grade']>[0])
      return value === null ? [] : [{ task: source, attempt: i, try: 0, a: value, b: kind === null }]
    })
    pairs.push(...(await Promise.all(graded)).flat())
  }
  const { agree, kappa, episodes } = computeAgreement(pairs)
  say(
    `judge ${grader.name}: agrees on ${agree.value} of ${episodes} labelled turns (${agree.low} to ${agree.high}), κ ${kappa.value}`,
  )
  return { name: grader.name, agree, kappa, turns: episodes }
}
