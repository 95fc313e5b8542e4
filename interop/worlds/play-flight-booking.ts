import { findIn, type Player } from './player.ts'

/** Says the whole trip at once, asks the question of the goal while the booking is open, and agrees. */
export function playFlightBooking(): Player {
  let turns: string[] | null = null
  return (shown) => {
    turns ??= chooseTurns(shown)
    const text = turns.shift()
    if (text === undefined) throw new Error(`Everything was said, and the episode goes on:\n${shown}`)
    return { tool: 'say', arguments: { text } }
  }
}

function chooseTurns(opening: string): string[] {
  const [from, to, day, people] = findIn(
    opening,
    /Book a flight from (.+?) to (.+?) on [^(]*\((\d{4}-\d{2}-\d{2})\) for (\d+ passengers? in \w+)/g,
    'The goal',
  )
  const [city] = findIn(opening, /ask for the weather in (\w+)/g, 'The question of the goal')
  return [
    `Book a flight from ${from} to ${to} on ${day} for ${people}.`,
    `What's the weather in ${city}?`,
    'Yes, book it.',
  ]
}
