import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { Policy } from '@episodic/env'
import type { Action } from '@episodic/protocol'

/** Set: players say in this folder that they have made their calls, and wait there for a file `go`. */
const { WAITING_ROOM } = process.env

/** Set: players begin with a call that no other player makes. */
const { UNSEEN_CALL } = process.env

/** Makes the calls that its task lists, and is done. */
export const policy: Policy = {
  name: 'as-listed',
  start({ task, seed }) {
    const calls = [...(task.params.calls as unknown as Action[])]
    if (UNSEEN_CALL !== undefined) calls.unshift({ tool: (calls[0] as Action).tool, arguments: { unseen: true } })
    return async () => {
      const next = calls.shift()
      if (next) return next
      if (WAITING_ROOM !== undefined) {
        writeFileSync(`${WAITING_ROOM}/waiting-${seed.replace(/\W/g, '')}`, '')
        while (!existsSync(`${WAITING_ROOM}/go`)) await setTimeout(50)
      }
      return { tool: 'done', arguments: {} }
    }
  },
}
