import { chainOf, contentId, createRng, type EpisodeRecord, type RecordedStep } from '@episodic/protocol'

export interface PlayedRun {
  readonly seed?: string
  readonly tasks: number
  readonly attempts: number
  readonly concurrency?: number
  readonly failures?: number
  readonly shaped?: boolean
  /** The same for all tasks; left out, it differs. */
  readonly difficulty?: number
}

const GAMMA = 0.99
const MOST_GUESSES = 8
const FAILURES = [
  ['transport-lost', 'The connection closed before step 3 was answered.'],
  ['environment-failed', 'The world failed while it played "guess"; see the server\'s log, reference 7f3a.'],
  ['time-out', 'No answer within 5000 ms. Raise the time limit or look at the server.'],
] as const

export function playRun(options: PlayedRun): EpisodeRecord[] {
  const { seed = 'fixture', tasks, attempts, concurrency = 16, failures = 0.02, shaped = true, difficulty } = options
  const rng = createRng(seed)
  const free = new Array<number>(concurrency).fill(0)
  return Array.from({ length: tasks * attempts }, (_, i) => {
    const [task, attempt] = [Math.floor(i / attempts), i % attempts]
    const hardness = difficulty ?? Math.round(createRng(`${seed}/${task}`).float() * 100) / 100
    const high = Math.round(10 + hardness * 490)
    const target = createRng(`${seed}/${task}`).stream('target').int(1, high)
    const slot = free.indexOf(Math.min(...free))
    const started = (free[slot] ?? 0) + rng.float() * 3
    const failed = rng.chance(failures)
    const { steps, end } = guess({ high, target, shaped, cut: failed ? rng.int(0, 3) : MOST_GUESSES, rng })
    const ended = started + steps.reduce((sum, step) => sum + (step.milliseconds ?? 0), 0) + 1 + rng.float() * 4
    free[slot] = ended
    const [code, message] = rng.pick(FAILURES)
    const rewards = steps.map((step) => step.reward)
    const record: Omit<EpisodeRecord, 'chain'> = {
      format: 3,
      run: 'guess-baseline',
      task: {
        id: `guess-${seed}-${task}`,
        prompt: `Find the hidden number from 1 to ${high} in at most ${MOST_GUESSES} guesses.`,
        difficulty: hardness,
        split: task % 10 === 8 ? 'validation' : task % 10 === 9 ? 'test' : 'train',
        tags: [high > 255 ? 'wide' : 'narrow', ...(target % 2 ? ['odd'] : ['even'])],
      },
      attempt,
      try: 0,
      environment: { name: 'number-guessing', version: '1.0.0' },
      params: { low: 1, high, maxGuesses: MOST_GUESSES },
      seed: `${seed}/${task}`,
      policy: { name: 'noisy-bisection', seed: `${seed}/${task}/${attempt}` },
      branch: null,
      start: {
        observation: {
          text: `Guess a whole number from 1 to ${high}. ${MOST_GUESSES} guesses left.`,
          structured: { low: 1, high, guessesLeft: MOST_GUESSES },
        },
        potential: shaped ? 0 : null,
      },
      steps,
      outcome: failed ? { kind: 'failed', error: { code, message } } : { kind: 'finished', end },
      returns: failed
        ? null
        : {
            total: rewards.reduce((sum, { total }) => sum + total, 0),
            unshaped: rewards.reduce((sum, { total, shaping }) => sum + total - shaping, 0),
            discounted: rewards.reduce((sum, { total }, t) => sum + GAMMA ** t * total, 0),
          },
      seal: null,
      time: { started, ended },
    }
    return { ...record, chain: chainOf(record) }
  })
}

interface Guessing {
  readonly high: number
  readonly target: number
  readonly shaped: boolean
  readonly cut: number
  readonly rng: ReturnType<typeof createRng>
}

function guess({ high, target, shaped, cut, rng }: Guessing): {
  steps: RecordedStep[]
  end: { kind: 'terminated'; reason: string } | { kind: 'truncated'; reason: 'step-limit' | 'time-limit' }
} {
  const steps: RecordedStep[] = []
  let [from, to, potential] = [1, high, 0]
  for (let left = MOST_GUESSES - 1; steps.length < cut; left--) {
    const milliseconds = 0.08 * Math.exp(rng.float() * 2.2 + (rng.chance(0.02) ? 3 : 0))
    if (rng.chance(0.03)) {
      const text = `Guess a number from 1 to ${high}.`
      const reward = { total: -0.01, terms: { solved: 0, cost: -0.01 }, shaping: 0 }
      const action = { tool: 'guess', arguments: { value: high + 7 } }
      steps.push({
        action,
        observation: { text, structured: null },
        reward,
        potential: shaped ? potential : null,
        refused: 'rules',
        stateHash: contentId(`${potential}`),
        milliseconds,
      })
    } else {
      const wander = Math.round(((to - from) / 3) * (rng.float() - 0.5))
      const value = Math.max(from, Math.min(to, Math.floor((from + to) / 2) + wander))
      const hint = value === target ? 'correct' : value < target ? 'low' : 'high'
      if (hint === 'low') from = value + 1
      if (hint === 'high') to = value - 1
      const solved = hint === 'correct' ? 1 : 0
      const over = solved === 1 || left === 0
      const next = solved ? 1 : 1 - (to - from) / (high - 1)
      const shaping = shaped ? GAMMA * (over ? 0 : next) - potential : 0
      potential = next
      steps.push({
        action: { tool: 'guess', arguments: { value } },
        observation: { text: `${value} is ${hint}. ${left} guesses left.`, structured: { value, hint } },
        reward: { total: solved - 0.01 + shaping, terms: { solved, cost: -0.01 }, shaping },
        potential: shaped ? next : null,
        refused: null,
        stateHash: contentId(`${next}`),
        milliseconds,
      })
      if (solved) return { steps, end: { kind: 'terminated', reason: 'solved' } }
    }
    if (left === 0) return { steps, end: { kind: 'terminated', reason: 'out-of-guesses' } }
    if (steps.length > 3 && rng.chance(0.006))
      return { steps, end: { kind: 'truncated', reason: rng.chance(0.7) ? 'step-limit' : 'time-limit' } }
  }
  return { steps, end: { kind: 'truncated', reason: 'step-limit' } }
}
