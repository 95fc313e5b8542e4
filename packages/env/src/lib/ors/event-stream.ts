/** One event of a stream. */
export interface OrsEvent {
  readonly event: string
  readonly data: string
}

/** Yields the events of a response as they come. Rejects if the stream is cut. */
export async function* readEvents({ body }: Response): AsyncGenerator<OrsEvent, void, undefined> {
  if (!body) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (let text = ''; ; ) {
      const { value, done } = await reader.read()
      if (done) return
      text += value.replaceAll('\r', '')
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const event = eventIn(text.slice(0, end))
        if (event) yield event
        text = text.slice(end + 2)
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Returns an event of a block of lines; `null` for a comment. */
function eventIn(block: string): OrsEvent | null {
  const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line))
  const event = fields.find((field) => field?.[1] === 'event')?.[2]
  const data = fields.filter((field) => field?.[1] === 'data').map((field) => field?.[2] ?? '')
  return event === undefined ? null : { event, data: data.join('\n') }
}
