import { describe, expect, it } from 'vitest'
import { createManualClock, systemClock } from './clock.ts'

describe('createManualClock', () => {
  it('stands still until it is moved', () => {
    const clock = createManualClock(500)
    expect([clock.now(), clock.monotonic()]).toEqual([500, 0])
    clock.advance(20)
    expect([clock.now(), clock.monotonic()]).toEqual([520, 20])
  })

  it('runs what falls due, once, in the order of its time, at its time', () => {
    const clock = createManualClock()
    const ran: string[] = []
    const at = (milliseconds: number, name: string) =>
      clock.after(milliseconds, () => ran.push(`${name} at ${clock.now()}`))
    at(30, 'third')
    at(10, 'first')
    at(10, 'second')
    at(31, 'later')
    clock.advance(30)
    clock.advance(0)
    expect(ran).toEqual(['first at 10', 'second at 10', 'third at 30'])
    expect(clock.now()).toBe(30)
  })

  it('runs what a timer sets, when that falls due in the same move', () => {
    const clock = createManualClock()
    const ran: number[] = []
    const tick = () => {
      ran.push(clock.now())
      clock.after(10, tick)
    }
    clock.after(10, tick)
    clock.advance(35)
    expect(ran).toEqual([10, 20, 30])
  })

  it('does not run what was called off', () => {
    const clock = createManualClock()
    let ran = 0
    const callOff = clock.after(10, () => (ran += 1))
    callOff()
    callOff()
    clock.advance(100)
    expect(ran).toBe(0)
  })
})

describe('systemClock', () => {
  it('never runs backwards', () => {
    const times = Array.from({ length: 100 }, () => systemClock.monotonic())
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('calls back, unless it was called off', async () => {
    const ran: string[] = []
    const callOff = systemClock.after(0, () => ran.push('called off'))
    callOff()
    // A timer that is unreferenced would not keep this test waiting, so hold the process with one that is not.
    const held = setInterval(() => {}, 1_000)
    await new Promise<void>((resolve) => systemClock.after(1, resolve))
    clearInterval(held)
    expect(ran).toEqual([])
  })
})
