import type { Rng } from '@episodic/protocol'

/** Draws parameters of a `tools/call` that JSON could not say: only a caller in the same process has these. */
export function hostileValue(rng: Rng): unknown {
  const value = rng.pick<() => unknown>([
    () => Number.NaN,
    () => undefined,
    () => 1n,
    () => Symbol('x'),
    () => () => 1,
    () => new Date(Number.NaN),
    () => new Map([[1, 2]]),
    () => new Uint8Array(100_000),
    () => new Error('mine'),
    () => Object.create(null),
    () => new Array(4_000_000_000),
    cycle,
    tangle,
    () => '\ud800'.repeat(100),
    () => JSON.parse('{"__proto__":{"polluted":1}}'),
  ])()
  const whole = { name: 'take', arguments: { value } }
  return rng.pick<unknown>([
    whole,
    { ...whole, name: value },
    { ...whole, arguments: value },
    { ...whole, _meta: value },
    value,
  ])
}

function cycle(): unknown {
  const value: Record<string, unknown> = {}
  value.itself = { within: [value] }
  return value
}

/** Sixty lists, each of which holds the next one twice: small to keep, and endless to walk. */
function tangle(): unknown {
  let value: unknown = []
  for (let level = 0; level < 60; level++) value = [value, value]
  return value
}
