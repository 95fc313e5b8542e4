export function bySeat<T>(seats: readonly string[], of: (seat: string) => T): { [seat: string]: T } {
  return Object.fromEntries(seats.map((seat) => [seat, of(seat)]))
}
