import { definePolicy, type Policy } from '@episodic/env'
import type { JsonObject } from '@episodic/protocol'
import type { Strategy } from './classic.ts'

/** Returns a policy that follows a strategy. After a refused step it plays on from the state that it saw last. */
export function strategyPolicy(name: string, strategy: Strategy): Policy {
  return definePolicy({
    name,
    start() {
      let seen: JsonObject = {}
      let step = 0
      return ({ structured }) => {
        seen = structured ?? seen
        return strategy(seen, step++)
      }
    },
  })
}
