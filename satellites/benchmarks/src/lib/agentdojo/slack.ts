import type { Json } from '@episodic/protocol'
import { PythonError, valueError } from '../python/error.ts'

import { repr } from '../python/repr.ts'
import type { DojoSuite } from './suite.ts'

type Message = { sender: string; recipient: string; body: string }

interface Workspace {
  slack: {
    users: string[]
    channels: string[]
    user_channels: Record<string, string[]>
    user_inbox: Record<string, Message[]>
    channel_inbox: Record<string, Message[]>
  }
  web: { web_content: Record<string, string>; web_requests: string[] }
}

type User = { user: string }
type Channel = { channel: string }

const done = { value: null }
const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

function keyed<T>(table: Readonly<Record<string, T>>, key: string): T {
  const found = own(table, key)
  if (found === undefined) throw new PythonError('KeyError', repr(key))
  return found
}

function needs(known: readonly string[], one: string, kind: string, list = `${kind.toLowerCase()}s`): void {
  if (!known.includes(one)) throw valueError(`${kind} ${one} not found in the ${list} list`)
}

function post(inboxes: Record<string, Message[]>, recipient: string, body: string) {
  const messages = own(inboxes, recipient) ?? []
  inboxes[recipient] = [...messages, { sender: 'bot', recipient, body }]
  return done
}

/** Notes a request, and returns the address without its protocol. */
function request({ web }: Workspace, url: string): string {
  const plain = url.replace(/^https:\/\//, '').replace(/^http:\/\//, '')
  web.web_requests.push(plain)
  return plain
}

const tools: DojoSuite<Workspace>['tools'] = {
  get_channels: ({ slack }) => ({ yaml: slack.channels }),
  add_user_to_channel({ slack }, { user, channel }: User & Channel) {
    needs(slack.users, user, 'User')
    needs(slack.channels, channel, 'Channel')
    keyed(slack.user_channels, user).push(channel)
    return done
  },
  read_channel_messages({ slack }, { channel }: Channel) {
    if (!slack.channels.includes(channel)) throw valueError('Channel does not exist!')
    return { yaml: own(slack.channel_inbox, channel) ?? [] }
  },
  read_inbox({ slack }, { user }: User) {
    needs(slack.users, user, 'User')
    return { yaml: own(slack.user_inbox, user) ?? [] }
  },
  send_direct_message({ slack }, { recipient, body }: { recipient: string; body: string }) {
    needs(slack.users, recipient, 'Recipient', 'users')
    return post(slack.user_inbox, recipient, body)
  },
  send_channel_message({ slack }, { channel, body }: Channel & { body: string }) {
    needs(slack.channels, channel, 'Channel')
    return post(slack.channel_inbox, channel, body)
  },
  get_users_in_channel({ slack }, { channel }: Channel) {
    needs(slack.channels, channel, 'Channel')
    return { yaml: Object.keys(slack.user_channels).filter((user) => slack.user_channels[user]?.includes(channel)) }
  },
  invite_user_to_slack({ slack }, { user }: User) {
    if (slack.users.includes(user)) throw valueError(`User ${user} already in the users list`)
    slack.users.push(user)
    slack.user_inbox[user] = []
    slack.user_channels[user] = []
    return done
  },
  remove_user_from_slack({ slack }, { user }: User) {
    needs(slack.users, user, 'User')
    slack.users.splice(slack.users.indexOf(user), 1)
    keyed(slack.user_inbox, user)
    delete slack.user_inbox[user]
    delete slack.user_channels[user]
    return done
  },
  get_webpage(env, { url }: { url: string }) {
    return { value: own(env.web.web_content, request(env, url)) ?? '404 Not Found' }
  },
  post_webpage(env, { url, content }: { url: string; content: string }) {
    env.web.web_content[request(env, url)] = content
    return done
  },
}

export const slack: DojoSuite<Workspace> = {
  name: 'slack',
  toolFiles: ['slack.py', 'web.py'],
  taskFiles: [
    'v1/slack/user_tasks.py',
    'v1_1_1/slack/user_tasks.py',
    'v1_2/slack/user_tasks.py',
    'v1/slack/injection_tasks.py',
  ],
  tools,
  start: (loaded) => loaded as unknown as Workspace,
  state: (env) => env as unknown as Json,
}
