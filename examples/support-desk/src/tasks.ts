import { readFileSync } from 'node:fs'
import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

const POLICY = readFileSync(new URL('../policy.md', import.meta.url), 'utf8')

/** One request to three, of customers who know e-mail address and order ids, or do not. The seed draws all else. */
export const tasks = defineTasks({
  name: 'support-desk',
  environment,
  generate({ difficulty }) {
    const requests = Math.min(3, 1 + Math.floor(difficulty * 3))
    const remembers = difficulty * 3 < requests - 0.5
    return {
      prompt: `You are an agent of the customer service of a shop. Serve the customer who is here.\n\n${POLICY}`,
      params: { requests, remembers },
      difficulty,
      tags: [`requests-${requests}`, remembers ? 'remembers' : 'forgets'],
    }
  },
})
