import { InvalidArgumentError } from 'commander'

/** Reads a whole number from `low` up. */
export function wholeNumber(low: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!Number.isSafeInteger(value) || value < low || text.trim() === '')
      throw new InvalidArgumentError(`It has to be a whole number from ${low} up.`)
    return value
  }
}

/** Reads a number within bounds. */
export function numberWithin(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!(value >= low && value <= high) || text.trim() === '')
      throw new InvalidArgumentError(`It has to be a number from ${low} to ${high}.`)
    return value
  }
}

/** Reads `name=1,other=0.5`. */
export function weights(text: string): Record<string, number> {
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', value = ''] = part.split('=').map((side) => side.trim())
      if (!name || value === '' || !Number.isFinite(Number(value)))
        throw new InvalidArgumentError('Weights are written as term=number, joined by commas.')
      return [name, Number(value)]
    }),
  )
}

/** Reads `0.2..0.8`, or a single number for both ends. */
export function range(text: string): [number, number] {
  const [low, high = low] = text.split('..').map(Number)
  if (low === undefined || high === undefined || !(low >= 0 && high <= 1 && low <= high))
    throw new InvalidArgumentError('A range is written as low..high, both from 0 to 1.')
  return [low, high]
}

/** Collects an option that may be given several times. */
export function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value]
}
