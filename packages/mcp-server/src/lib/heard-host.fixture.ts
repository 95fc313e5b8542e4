import type { Host, StepCall } from './host.ts'

/** A real host, and the calls of agents in the order in which they reach it. */
export interface HeardHost {
  readonly host: Host
  /** Resolves with the next call that was not heard of yet, when it is there. */
  heard(): Promise<StepCall>
}

export function hearHost(host: Host): HeardHost {
  const calls: StepCall[] = []
  let changed = Promise.withResolvers<void>()
  const hear = (call: StepCall) => {
    calls.push(call)
    changed.resolve()
    changed = Promise.withResolvers<void>()
  }
  const overheard: Partial<Host> = {
    act(...args) {
      const answer = host.act(...args)
      hear(args[1])
      return answer
    },
    actAt(...args) {
      const answer = host.actAt(...args)
      hear(args[3])
      return answer
    },
    step(...args) {
      const answer = host.step(...args)
      hear(args[2])
      return answer
    },
  }
  return {
    host: new Proxy(host, {
      get(_, name: keyof Host) {
        const value = overheard[name] ?? host[name]
        return typeof value === 'function' ? value.bind(host) : value
      },
    }),
    async heard() {
      while (calls.length === 0) await changed.promise
      return calls.shift() as StepCall
    },
  }
}
