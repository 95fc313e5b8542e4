import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { HttpProblem } from '../http-problem.ts'
import { begin, type Exchange } from './answer.ts'

/** Answers with a file or, if the request has one range, with that part of it. */
export async function answerFile({ request, response, signal }: Exchange, path: string): Promise<void> {
  const found = await stat(path, { bigint: true }).catch(() => null)
  if (!found) throw new HttpProblem('not-found', 'This run has no sealed episode yet.')
  const size = Number(found.size)
  const tag = `"${found.ino.toString(36)}-${found.mtimeNs.toString(36)}-${size.toString(36)}"`
  const { range, 'if-range': ifRange, 'if-none-match': ifNoneMatch } = request.headers
  const headers = { 'accept-ranges': 'bytes', 'content-type': 'application/x-ndjson', etag: tag }
  if (ifNoneMatch?.split(/, */).includes(tag)) {
    begin(response, 304, headers)
    response.end()
    return
  }
  const part = range && (ifRange === undefined || ifRange === tag) ? rangeIn(range, size) : null
  const [start, end] = part ?? [0, size]
  begin(response, part ? 206 : 200, {
    ...headers,
    'content-length': end - start,
    ...(part && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
  })
  if (request.method === 'HEAD' || start === end) response.end()
  // The file may grow meanwhile.
  else await pipeline(createReadStream(path, { start, end: end - 1 }), response, { signal })
}

/** Returns the part that a header asks for, from its first byte to before its end; `null` for all of it. */
function rangeIn(header: string, size: number): readonly [start: number, end: number] | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header)
  if (!match || (match[1] === '' && match[2] === '')) return null
  const [, first = '', last = ''] = match
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (start >= end) throw new HttpProblem('wrong-range', `The file has ${size} bytes.`)
  return [start, end]
}
