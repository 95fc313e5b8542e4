import { isEqual } from '../python/equality.ts'
import type { PythonValue } from '../python/value.ts'
import { type Api, attributesOf, type Chance, draw, PythonError } from './api.ts'
import { type Dict, dictOf, findItem, itemOr } from './dict.ts'

interface Messages extends Chance {
  /** In their order, since a set has none. */
  generated_ids: number[]
  user_count: number
  user_map: Dict<string>
  /** Dicts of one receiver and a message, which scenarios write as a list of one, too. */
  inbox: Dict[]
  message_count: number
  current_user: string | null
}

type CallArguments = Record<'user' | 'user_id' | 'receiver_id' | 'message' | 'user_name' | 'keyword', string>

const NOBODY = { error: 'No user is currently logged in.' }

export const messages: Api<Messages, CallArguments> = {
  load(scenario, sources) {
    const state = attributesOf<Messages>(scenario, sources, 'user_map')
    return { ...state, inbox: state.inbox.map((message) => dictOf(message)) }
  },
  methods: {
    list_users: ({ user_map }) => ({ user_list: user_map.$dict.map(([user]) => user) }),
    get_user_id({ user_map }, { user }) {
      const user_id = findItem(user_map, user)
      return user_id === null ? { error: `User '${user}' not found in the workspace.` } : { user_id }
    },
    message_login(state, { user_id }) {
      if (!isUser(state, user_id)) return { login_status: false, message: `User ID '${user_id}' not found.` }
      state.current_user = user_id
      return { login_status: true, message: `User '${user_id}' logged in successfully.` }
    },
    message_get_login_status: ({ current_user }) => ({ login_status: Boolean(current_user) }),
    send_message(state, { receiver_id, message }) {
      if (!state.current_user) return NOBODY
      if (!isUser(state, receiver_id)) return { error: `Receiver ID '${receiver_id}' not found.` }
      const new_id = draw(state, (random) => {
        let id = random.randint(10_000, 99_999)
        while (state.generated_ids.includes(id)) id = random.randint(10_000, 99_999)
        return id
      })
      state.generated_ids = [...state.generated_ids, new_id].sort((a, b) => a - b)
      state.inbox.push({ $dict: [[receiver_id, message]] })
      state.message_count += 1
      const said = `Message sent to '${receiver_id}' successfully.`
      return { sent_status: true, message_id: { new_id }, message: said }
    },
    delete_message({ current_user, inbox }, { receiver_id }) {
      if (!current_user) return NOBODY
      const last = inbox.findLast((one) => messageOf(one)[0] === receiver_id)
      if (!last) return { error: `Receiver ID ${receiver_id} not found.` }
      // The first that is equal to the last one goes.
      inbox.splice(
        inbox.findIndex((one) => isEqual(one, last)),
        1,
      )
      const message = `Receiver ${receiver_id}'s latest message deleted successfully.`
      return { deleted_status: true, receiver_id, message }
    },
    view_messages_sent({ current_user, inbox }) {
      if (!current_user) return NOBODY
      const sent: Dict<PythonValue[]> = { $dict: [] }
      for (const [receiver, message] of inbox.map(messageOf)) itemOr(sent, receiver, []).push(message)
      return { messages: sent }
    },
    add_contact(state, { user_name }) {
      if (findItem(state.user_map, user_name) !== null) return { error: `User name '${user_name}' already exists.` }
      state.user_count += 1
      const user_id = `USR${String(state.user_count).padStart(3, '0')}`
      if (isUser(state, user_id)) return { error: `User ID '${user_id}' already exists.` }
      state.user_map.$dict.push([user_name, user_id])
      return { added_status: true, user_id, message: `Contact '${user_name}' added successfully.` }
    },
    search_messages({ current_user, inbox }, { keyword }) {
      if (!current_user) return NOBODY
      const results = inbox.map(messageOf).flatMap(([receiver_id, message]) => {
        if (typeof message !== 'string')
          throw new PythonError(`'${Array.isArray(message) ? 'list' : 'dict'}' object has no attribute 'lower'`)
        return message.toLowerCase().includes(keyword.toLowerCase()) ? [{ receiver_id, message }] : []
      })
      return { results }
    },
    get_message_stats({ current_user, inbox }) {
      if (!current_user) return NOBODY
      const contacts = new Set(inbox.map((one) => messageOf(one)[0]))
      return { stats: { received_count: inbox.length, total_contacts: contacts.size } }
    },
  },
}

function isUser({ user_map }: Messages, id: string): boolean {
  return user_map.$dict.some(([, other]) => other === id)
}

function messageOf({ $dict: [entry] }: Dict): [receiver: PythonValue, message: PythonValue] {
  if (!entry) throw new PythonError('list index out of range')
  return entry
}
