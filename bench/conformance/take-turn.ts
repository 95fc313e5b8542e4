import { once } from 'node:events'
import { connect } from 'node:net'

// Loaded before a client of the suite: waits until it is the client's turn, which lasts until its process ends.
const socket = connect(process.env.CONFORMANCE_TURNS as string)
await once(socket, 'data')
socket.unref()
