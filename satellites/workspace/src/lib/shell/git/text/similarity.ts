/** Characters that a piece of a line has at most. */
const PIECE = 64

/** Returns how many percent of the larger of two contents are in both, piece by piece, as git counts it for renames. */
export function similarity(from: string, to: string): number {
  const most = Math.max(from.length, to.length)
  if (most === 0) return 100
  if (Math.min(from.length, to.length) * 2 < most) return 0
  const [here, there] = [piecesOf(from), piecesOf(to)]
  let same = 0
  for (const [piece, bytes] of here) same += Math.min(bytes, there.get(piece) ?? 0)
  return Math.floor((Math.floor((same * 60_000) / most) * 100) / 60_000)
}

/** Returns the bytes of each piece of a content, counted as often as it is there. */
function piecesOf(content: string): Map<string, number> {
  const pieces = new Map<string, number>()
  for (let at = 0; at < content.length; ) {
    const feed = content.indexOf('\n', at)
    const end = Math.min(feed < 0 ? content.length : feed + 1, at + PIECE)
    const piece = content.slice(at, end)
    pieces.set(piece, (pieces.get(piece) ?? 0) + piece.length)
    at = end
  }
  return pieces
}
