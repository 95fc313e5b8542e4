import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** One hand each. */
export const tasks = defineTasks({
  name: 'blackjack',
  environment,
  generate: () => ({
    prompt: 'Play one hand of blackjack. Hit or stick, so that you win as often as you can.',
    hints: ['The deck is infinite: cards that you have seen do not become rarer.', 'The dealer must draw up to 17.'],
    params: { naturals: 'win' },
    difficulty: 0.5,
    tags: [],
  }),
})
