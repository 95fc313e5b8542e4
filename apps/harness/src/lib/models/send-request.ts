import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { codeOf } from './tries.ts'

/** Sends a request, and resolves with the answer once its headers have come. */
export function sendRequest(url: string, body: Buffer, options: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, options)
    request.on('response', resolve)
    request.on('error', (error) => {
      // The server has closed a connection that was idle, before it read the request.
      if (request.reusedSocket && codeOf(error) === 'ECONNRESET') sendRequest(url, body, options).then(resolve, reject)
      else reject(error)
    })
    request.end(body)
  })
}
