/** A line as it came, or the news that one was too long to be kept. */
export type Line = { readonly kind: 'line'; readonly text: string } | { readonly kind: 'too-long' }

/**
 * Splits a byte stream into lines of at most `limit` bytes, in constant memory.
 *
 * A longer line is skipped to its end and told of once, so that the stream stays in step with whoever writes it.
 */
export async function* splitLines(input: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Line> {
  let held: Buffer[] = []
  let length = 0
  for await (const chunk of input) {
    let rest = chunk
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = rest.subarray(0, end)
      rest = rest.subarray(end + 1)
      yield length + line.length > limit ? { kind: 'too-long' } : { kind: 'line', text: textOf([...held, line]) }
      held = []
      length = 0
    }
    length += rest.length
    if (length > limit) held = []
    else if (rest.length > 0) held.push(rest)
  }
}

function textOf(parts: Buffer[]): string {
  return Buffer.concat(parts).toString('utf8').replace(/\r$/, '')
}
