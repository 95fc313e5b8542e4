import { createRng, seedFor } from '@episodic/protocol'
import { airport } from './airports.ts'

const SKIES = [
  'clear',
  'sunny',
  'a few clouds',
  'overcast',
  'light rain',
  'showers',
  'a thunderstorm',
  'windy',
] as const

/**
 * Returns the weather of a city on a day, in words. The seed is the city and the day, so it is the same in every
 * session.
 */
export function forecast(code: string, date: string): string {
  const rng = createRng(seedFor('weather', code, date))
  const { latitude } = airport(code)
  const month = Number(date.slice(5, 7))
  // From −1 in January to 1 in July, reversed in the south, and nearly constant at the equator.
  const season = (1 - Math.abs(month - 7) / 3) * (latitude / 60)
  const celsius = Math.round(32 - Math.abs(latitude) * 0.4 + season * 9) + rng.int(-3, 3)
  return `${rng.pick(SKIES)}, ${celsius} °C`
}
