import type { VirtualClock } from '../clock/virtual-clock.ts'

/**
 * Returns what the JavaScript engine runs first. Its own generator is seeded by the time alone, so this one takes its
 * place (mulberry32); and its console prints nothing for `undefined`.
 */
export function javascriptStart(clock: VirtualClock): string {
  const seed = Math.floor(clock.random() * 2 ** 32)
  return `{
    let s = ${seed}
    const random = () => {
      s = (s + 0x6d2b79f5) | 0
      let t = imul(s ^ (s >>> 15), 1 | s)
      t = (t + imul(t ^ (t >>> 7), 61 | t)) ^ t
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296
    }
    const { imul } = Math
    globalThis.Math = Object.defineProperties({}, {
      ...Object.getOwnPropertyDescriptors(Math),
      random: { value: random, writable: true, configurable: true },
    })
    for (const name of ['log', 'info', 'warn', 'error', 'debug']) {
      const print = console[name]
      if (print) console[name] = (...values) => print(...values.map((each) => (each === undefined ? 'undefined' : each)))
    }
  }`
}
