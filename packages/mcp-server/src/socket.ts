export { type SocketOptions, type SocketPlace, type SocketServer, serveSocket } from './lib/socket/serve-socket.ts'
