/**
 * - `open`: as far as is known. A server over HTTP can be gone without a word: `checkHealth` asks it.
 * - `expired`: the server has ended it. - `lost`: the connection is gone. - `closed`: its owner has closed it.
 */
export type SessionHealth = 'open' | 'expired' | 'lost' | 'closed'
