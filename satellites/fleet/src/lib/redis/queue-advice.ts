/**
 * Says what to do about a Redis that could not be connected to.
 *
 * @param message - of the failure.
 */
export function adviseOn(message: string, url: string): string {
  const isTls = url.startsWith('rediss:')
  if (/WRONGPASS|NOAUTH|AUTH failed|invalid password/i.test(message))
    return 'It wants a user and a password. Give them in --queue <scheme>://<user>:<password>@<host>, or the password in EPISODIC_QUEUE_PASSWORD.'
  if (/NOPERM/.test(message))
    return 'Its user may not do what a queue needs. The page Deploy has the rights that the user needs.'
  if (isTls && /certificate|altnames|unable to verify/i.test(message))
    return 'Its certificate is not trusted. Give the file of its authority in NODE_EXTRA_CA_CERTS, and the host name that the certificate has.'
  if (isTls && /wrong version number|EPROTO|packet length|socket disconnected|ECONNRESET|closed/i.test(message))
    return 'It may not speak TLS at this port. Without TLS, give redis:// instead of rediss://.'
  if (/DB index/i.test(message))
    return 'It has no database of that number. Give the URL without one, or with one that it has (16 by default, from 0).'
  if (/RESP type/i.test(message)) return 'What answers there is no Redis. See that --queue has its port.'
  if (!isTls && /closed|ECONNRESET|Protocol error/i.test(message))
    return 'If it speaks TLS at this port, give rediss:// instead of redis://.'
  return 'See that it runs there, and that --queue has its port, user and password.'
}
