import { isEqual } from '../python/equality.ts'
import type { PythonDict, PythonValue } from '../python/value.ts'
import { type Api, type Chance, type Dict, dictOf, draw, has, itemOf, PythonError, setItem } from './api.ts'

interface Messages {
  generated_ids: number[]
  user_count: number
  user_map: Dict<string>
  /** Dicts of one receiver and a message, which scenarios write as a list of one, too. */
  inbox: Dict[]
  message_count: number
  current_user: string | null
  chance: Chance
}

const NOBODY = { error: 'No user is currently logged in.' }

export const messages: Api<Messages> = {
  load(scenario, sources) {
    const { user_map, inbox, ...rest } = {
      ...sources.constant<Record<string, PythonValue>>('DEFAULT_STATE'),
      ...scenario,
    }
    return {
      ...(rest as unknown as Omit<Messages, 'user_map' | 'inbox' | 'chance'>),
      user_map: dictOf(user_map as PythonValue),
      inbox: (inbox as PythonValue[]).map((message) => dictOf(message)),
      chance: { seed: (scenario.random_seed as number | undefined) ?? 200191, drawn: 0 },
    }
  },

  compared: ({ generated_ids, user_count, user_map, inbox, message_count, current_user }) => ({
    ...{ current_user, generated_ids: generated_ids.toSorted((a, b) => a - b), inbox: inbox as PythonDict[] },
    ...{ message_count, user_count, user_map: user_map as PythonDict },
  }),

  methods: {
    list_users: ({ user_map }) => ({ user_list: user_map.$dict.map(([user]) => user) }),

    get_user_id({ user_map }, { user }: { user: string }) {
      return has(user_map, user)
        ? { user_id: itemOf(user_map, user) }
        : { error: `User '${user}' not found in the workspace.` }
    },

    message_login(state, { user_id }: { user_id: string }) {
      if (!isUser(state, user_id)) return { login_status: false, message: `User ID '${user_id}' not found.` }
      state.current_user = user_id
      return { login_status: true, message: `User '${user_id}' logged in successfully.` }
    },

    message_get_login_status: ({ current_user }) => ({ login_status: Boolean(current_user) }),

    send_message(state, { receiver_id, message }: { receiver_id: string; message: string }) {
      if (!state.current_user) return NOBODY
      if (!isUser(state, receiver_id)) return { error: `Receiver ID '${receiver_id}' not found.` }
      const new_id = draw(state.chance, (random) => {
        let id = random.randint(10_000, 99_999)
        while (state.generated_ids.includes(id)) id = random.randint(10_000, 99_999)
        return id
      })
      state.generated_ids.push(new_id)
      state.inbox.push({ $dict: [[receiver_id, message]] })
      state.message_count += 1
      return {
        sent_status: true,
        message_id: { new_id },
        message: `Message sent to '${receiver_id}' successfully.`,
      }
    },

    delete_message(state, { receiver_id }: { receiver_id: string }) {
      if (!state.current_user) return NOBODY
      const message = state.inbox.findLast((one) => messageOf(one)[0] === receiver_id)
      if (!message) return { error: `Receiver ID ${receiver_id} not found.` }
      // The first that is equal to the last one goes.
      const at = state.inbox.findIndex((one) => isEqual(one as PythonDict, message as PythonDict))
      state.inbox.splice(at, 1)
      return {
        deleted_status: true,
        receiver_id,
        message: `Receiver ${receiver_id}'s latest message deleted successfully.`,
      }
    },

    view_messages_sent(state) {
      if (!state.current_user) return NOBODY
      const sent: Dict<PythonValue[]> = { $dict: [] }
      for (const one of state.inbox) {
        const [receiver, message] = messageOf(one)
        if (has(sent, receiver)) itemOf(sent, receiver).push(message)
        else setItem(sent, receiver, [message])
      }
      return { messages: sent as PythonDict }
    },

    add_contact(state, { user_name }: { user_name: string }) {
      if (has(state.user_map, user_name)) return { error: `User name '${user_name}' already exists.` }
      state.user_count += 1
      const user_id = `USR${String(state.user_count).padStart(3, '0')}`
      if (isUser(state, user_id)) return { error: `User ID '${user_id}' already exists.` }
      setItem(state.user_map, user_name, user_id)
      return { added_status: true, user_id, message: `Contact '${user_name}' added successfully.` }
    },

    search_messages(state, { keyword }: { keyword: string }) {
      if (!state.current_user) return NOBODY
      const results: PythonValue[] = []
      for (const one of state.inbox) {
        const [receiver_id, message] = messageOf(one)
        if (typeof message !== 'string')
          throw new PythonError(`'${Array.isArray(message) ? 'list' : 'dict'}' object has no attribute 'lower'`)
        if (message.toLowerCase().includes(keyword.toLowerCase())) results.push({ receiver_id, message })
      }
      return { results }
    },

    get_message_stats(state) {
      if (!state.current_user) return NOBODY
      const contacts = new Set(state.inbox.map((one) => messageOf(one)[0]))
      return { stats: { received_count: state.inbox.length, total_contacts: contacts.size } }
    },
  },
}

function isUser({ user_map }: Messages, id: string): boolean {
  return user_map.$dict.some(([, other]) => other === id)
}

function messageOf({ $dict }: Dict): [receiver: PythonValue, message: PythonValue] {
  const [entry] = $dict
  if (!entry) throw new PythonError('list index out of range')
  return entry
}
