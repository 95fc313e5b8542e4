import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AIRPORTS, CODES, kilometres } from './airports.ts'
import { forecast } from './forecast.ts'
import { fittingFlights, flightsOn, partOf } from './timetable.ts'
import { daysAfter } from './trip.ts'

const anyCode = fc.constantFrom(...CODES)
const anyDay = fc.integer({ min: 0, max: 700 }).map((days) => daysAfter('2026-01-05', days))

describe('airports', () => {
  it('are about sixty, with distinct codes and cities', () => {
    expect(AIRPORTS.length).toBeGreaterThanOrEqual(60)
    expect(new Set(CODES).size).toBe(AIRPORTS.length)
    expect(new Set(AIRPORTS.map(({ city }) => city)).size).toBe(AIRPORTS.length)
    for (const { code } of AIRPORTS) expect(code).toMatch(/^[A-Z]{3}$/)
  })

  it('have nearly the distances of the globe', () => {
    // Great circles: 1,985, 5,540, 2,175 and 340 km.
    for (const [from, to, distance] of [
      ['LHE', 'DXB', 1_985],
      ['LHR', 'JFK', 5_540],
      ['SYD', 'SIN', 6_300],
      ['LHR', 'CDG', 345],
    ] as const)
      expect(Math.abs(kilometres(from, to) / distance - 1)).toBeLessThan(0.12)
  })
})

describe('flightsOn', () => {
  it('returns the same for every session, in the order of departure, with distinct flight numbers', () => {
    fc.assert(
      fc.property(anyCode, anyCode, anyDay, (from, to, day) => {
        const flights = flightsOn(from, to, day)
        expect(flightsOn(from, to, day)).toEqual(flights)
        expect(flights.map(({ departs }) => departs)).toEqual(flights.map(({ departs }) => departs).sort())
        expect(new Set(flights.map(({ number }) => number)).size).toBe(flights.length)
        for (const { departs, price, seats } of flights) {
          expect(departs).toMatch(/^(0[6-9]|1\d|2[01]):[0-5][05]$/)
          expect(Math.min(price, seats)).toBeGreaterThan(0)
        }
      }),
      { seed: 5 },
    )
  })

  it('has days without a flight', () => {
    const days = Array.from({ length: 200 }, (_, i) => flightsOn('LHE', 'DXB', daysAfter('2026-01-05', i)))
    const empty = days.filter((flights) => flights.length === 0).length
    expect(empty).toBeGreaterThan(5)
    expect(empty).toBeLessThan(50)
  })
})

describe('fittingFlights', () => {
  it('returns the flights with enough seats at the right time, the cheapest first', () => {
    const anyPart = fc.constantFrom('morning', 'afternoon', 'evening', null)
    fc.assert(
      fc.property(
        anyCode,
        anyCode,
        anyDay,
        fc.integer({ min: 1, max: 9 }),
        anyPart,
        (from, to, date, passengers, part) => {
          const flights = fittingFlights({ from, to, date, passengers, part })
          for (const [i, flight] of flights.entries()) {
            expect(flight.seats).toBeGreaterThanOrEqual(passengers)
            if (part) expect(partOf(flight)).toBe(part)
            expect(flight.price).toBeGreaterThanOrEqual(flights[i - 1]?.price ?? 0)
          }
        },
      ),
      { seed: 5 },
    )
  })
})

describe('forecast', () => {
  it('returns the same for every session, and warmer weather in summer', () => {
    const celsius = (code: string, day: string) => Number(/(-?\d+) °C/.exec(forecast(code, day))?.[1])
    expect(forecast('DXB', '2026-01-05')).toBe(forecast('DXB', '2026-01-05'))
    expect(celsius('HEL', '2026-07-05')).toBeGreaterThan(celsius('HEL', '2026-01-05'))
    expect(celsius('SYD', '2026-07-05')).toBeLessThan(celsius('SYD', '2026-01-05'))
  })
})
